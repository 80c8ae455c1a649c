/// Names a segment of one file. A number is never used twice for one file.
public struct SegmentLease: Sendable, Hashable {
    let number: Int
}
