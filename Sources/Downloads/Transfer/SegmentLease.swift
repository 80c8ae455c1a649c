/// The right of one connection to fetch a segment of a file. `Segments` gives it, and never gives two equal ones for a file.
public struct SegmentLease: Sendable, Hashable {
    let number: Int
}
