/// The jobs of one batch that are outstanding or have succeeded, and their bytes.
struct BatchProgress: Sendable, Equatable {
    /// Outstanding jobs whose size is unknown.
    var unsized = 0
    /// The other ones.
    var sized = 0
    var bytesReceived: Int64 = 0
    /// Of the sized jobs.
    var bytesExpected: Int64 = 0

    /// The bytes of all jobs; nil when the size of a job is unknown, and when there is no job.
    var expected: Int64? { unsized == 0 && sized > 0 ? bytesExpected : nil }

    var isZero: Bool { self == BatchProgress() }

    static func += (sum: inout BatchProgress, other: BatchProgress) {
        sum.unsized += other.unsized
        sum.sized += other.sized
        sum.bytesReceived += other.bytesReceived
        sum.bytesExpected += other.bytesExpected
    }

    static func - (left: BatchProgress, right: BatchProgress) -> BatchProgress {
        BatchProgress(
            unsized: left.unsized - right.unsized, sized: left.sized - right.sized,
            bytesReceived: left.bytesReceived - right.bytesReceived,
            bytesExpected: left.bytesExpected - right.bytesExpected)
    }

    static func -= (left: inout BatchProgress, right: BatchProgress) { left = left - right }
}
