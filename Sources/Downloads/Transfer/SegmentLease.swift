/// The right of one connection to fetch a segment of a file. `Segments` creates the leases. No two leases of a file are
/// equal.
public struct SegmentLease: Sendable, Hashable {
    let number: Int
}
