import Glibc
import Synchronization

/// A number that only rises. Any thread may increment it, without a lock.
public final class Counter: Sendable {
    private let count = Atomic(0)

    public init() {}

    public var value: Int { count.load(ordering: .relaxed) }

    public func increment() { count.add(1, ordering: .relaxed) }
}

/// One counter for each label of a closed set.
public struct CounterFamily<Label: CaseIterable & Hashable & Sendable>: Sendable {
    private let counters: [Label: Counter]

    public init() { counters = Dictionary(uniqueKeysWithValues: Label.allCases.map { ($0, Counter()) }) }

    public subscript(label: Label) -> Counter { counters[label]! }

    public var snapshot: [(label: Label, count: Int)] { Label.allCases.map { ($0, self[$0].value) } }
}

/// The buckets of a histogram of durations.
public enum DurationScale: Sendable, CaseIterable {
    /// Requests that this service answers.
    case answers
    /// Commits and syncs.
    case disk
    /// Requests that this service sends.
    case requests
    case downloads
    /// The turns of an event loop.
    case turns

    /// The upper bounds of the buckets in seconds, ascending.
    public var bounds: [Double] {
        switch self {
        case .answers: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
        case .disk: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
        case .requests: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]
        case .turns: [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5]
        case .downloads: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 43_200, 86_400]
        }
    }
}

/// A distribution of values at one moment.
public struct Histogram: Sendable, Equatable {
    /// Inclusive upper bounds of the buckets, ascending.
    public let bounds: [Double]
    /// The number of values in each bucket; the last number counts the values above all bounds.
    public let counts: [Int]
    public let sum: Double
}

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

    /// A hundred years in seconds.
    private static let longest = 3.2e9
}

/// One histogram for each label of a closed set.
public struct HistogramFamily<Label: CaseIterable & Hashable & Sendable>: Sendable {
    private let recorders: [Label: HistogramRecorder]

    public init(_ scale: DurationScale) {
        recorders = Dictionary(uniqueKeysWithValues: Label.allCases.map { ($0, HistogramRecorder(scale)) })
    }

    public subscript(label: Label) -> HistogramRecorder { recorders[label]! }

    public var snapshot: [(label: Label, histogram: Histogram)] { Label.allCases.map { ($0, self[$0].snapshot) } }
}

/// Measures a duration with the monotonic clock (CLOCK_MONOTONIC of clock_gettime(2)), without a system call. The time
/// during which the machine is suspended does not count.
public struct Stopwatch: Sendable {
    private let start: UInt64

    public init() { start = Self.now }

    /// The time since the creation of the stopwatch.
    public var nanoseconds: UInt64 { Self.now &- start }
    public var seconds: Double { Double(nanoseconds) / 1e9 }

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}

/// What the kernel reports about this process (proc(5)). A value is nil if the kernel does not report it.
public struct ProcessReading: Sendable {
    /// User and system time since the start.
    public var cpuSeconds: Double?
    public var residentBytes: Double?
    public var virtualBytes: Double?
    public var threads: Int?
    public var openDescriptors: Int?
    /// The soft limit.
    public var mostDescriptors: Int?
    /// The time of the start in seconds since 1970.
    public var startTime: Double?

    /// Reads three small files; on kernels before 6.2, also one directory entry for each open descriptor.
    public init() {
        let fields = Self.statusFields()
        // The numbers are those of proc(5), section /proc/pid/stat, less 3: the first two fields are dropped.
        func field(_ number: Int) -> Double? { fields.indices.contains(number - 3) ? Double(fields[number - 3]) : nil }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        if let user = field(14), let system = field(15) { cpuSeconds = (user + system) / ticks }
        threads = field(20).map { Int($0) }
        virtualBytes = field(23)
        residentBytes = field(24).map { $0 * Double(sysconf(Int32(_SC_PAGESIZE))) }
        if let boot = Self.bootTime, let start = field(22) { startTime = boot + start / ticks }
        openDescriptors = Self.countDescriptors()
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            mostDescriptors = Int(clamping: limit.rlim_cur)
        }
    }

    /// The fields after the name of the program, which may contain anything.
    private static func statusFields() -> [Substring] {
        guard let text = KernelFile.text(of: "/proc/self/stat"), let end = text.lastIndex(of: ")") else { return [] }
        return text[text.index(after: end)...].split(whereSeparator: \.isWhitespace)
    }

    /// The time of the boot in seconds since 1970.
    private static let bootTime: Double? = {
        let line = KernelFile.text(of: "/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }
        return line.flatMap { Double($0.dropFirst("btime ".count)) }
    }()

    /// Since Linux 6.2, the size of the directory is the number of descriptors.
    private static func countDescriptors() -> Int? {
        var status = stat()
        if stat("/proc/self/fd", &status) == 0, status.st_size > 0 { return Int(status.st_size) }
        guard let directory = opendir("/proc/self/fd") else { return nil }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        // Without `.`, `..` and the descriptor of the directory itself.
        return count - 3
    }
}
