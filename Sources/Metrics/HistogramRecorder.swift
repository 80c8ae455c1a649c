import Synchronization

/// Counts durations in buckets. Any thread may record, without a lock: a record costs two atomic additions.
///
/// A snapshot that is taken during a record may have its bucket without its sum.
public final class HistogramRecorder: @unchecked Sendable {
    private let scale: DurationScale
    /// The bounds of the scale, in nanoseconds.
    private let bounds: [UInt64]
    /// One for each bound, and one for longer durations. The pointees are atomic and never move.
    private let counts: UnsafeMutablePointer<Atomic<Int>>
    /// Nanoseconds.
    private let sum = Atomic<UInt64>(0)

    public init(_ scale: DurationScale) {
        self.scale = scale
        bounds = scale.bounds.map { UInt64($0 * 1e9) }
        counts = .allocate(capacity: bounds.count + 1)
        for index in 0...bounds.count { (counts + index).initialize(to: Atomic(0)) }
    }

    deinit {
        counts.deinitialize(count: bounds.count + 1)
        counts.deallocate()
    }

    /// Records the time since the stopwatch was started.
    public func record(_ watch: Stopwatch) { record(nanoseconds: watch.nanoseconds) }

    /// - Parameter seconds: a negative number counts as 0.
    public func record(seconds: Double) { record(nanoseconds: UInt64(min(max(seconds, 0), Self.longest) * 1e9)) }

    public var snapshot: Histogram {
        Histogram(
            bounds: scale.bounds, counts: (0...bounds.count).map { counts[$0].load(ordering: .relaxed) },
            sum: Double(sum.load(ordering: .relaxed)) / 1e9)
    }

    private func record(nanoseconds: UInt64) {
        var bucket = 0
        while bucket < bounds.count, nanoseconds > bounds[bucket] { bucket += 1 }
        counts[bucket].add(1, ordering: .relaxed)
        sum.add(nanoseconds, ordering: .relaxed)
    }

    /// Seconds: a hundred years.
    private static let longest = 3.2e9
}
