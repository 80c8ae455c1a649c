/// The bytes of every rehearsed file, each a function of its position alone: a range costs what it holds, wherever it
/// begins, and whoever has received one can tell whether it is right.
///
/// They are the numbers of SplitMix64 (Steele, Lea and Flood) with the seed 0, each as eight bytes, the highest first.
/// A shorter file is the beginning of a longer one.
public enum RehearsalContent {
    /// - Parameter range: of positions from 0 up.
    public static func bytes(_ range: Range<Int64>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            let space = UnsafeMutableRawBufferPointer(buffer)
            while count < space.count {
                let position = range.lowerBound + Int64(count)
                let skipped = Int(position % 8)
                let taken = min(8 - skipped, space.count - count)
                withUnsafeBytes(of: word(position / 8).bigEndian) { word in
                    UnsafeMutableRawBufferPointer(rebasing: space[count..<count + taken])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: word[skipped..<skipped + taken]))
                }
                count += taken
            }
        }
    }

    private static func word(_ index: Int64) -> UInt64 {
        var mixed = UInt64(index + 1) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
