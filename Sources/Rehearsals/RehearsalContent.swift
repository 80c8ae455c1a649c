/// The content of all rehearsed files. Each byte depends only on its position, so a range costs only its own size, and
/// a receiver can verify it.
///
/// The content is the sequence of SplitMix64 (Steele, Lea and Flood) with the seed 0, each number as eight bytes in
/// big-endian order. A shorter file is a prefix of a longer one.
public enum RehearsalContent {
    /// - Parameter range: positions, 0 or above.
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
