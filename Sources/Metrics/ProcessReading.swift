import Glibc

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
    /// Seconds since 1970.
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
        guard let text = text(of: "/proc/self/stat"), let end = text.lastIndex(of: ")") else { return [] }
        return text[text.index(after: end)...].split(whereSeparator: \.isWhitespace)
    }

    /// Seconds since 1970.
    private static let bootTime: Double? = {
        let line = text(of: "/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }
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

    /// Reads a file of the kernel, which has no size.
    private static func text(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count < 1 << 20 {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
