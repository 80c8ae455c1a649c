import Foundation

/// The wall clock of a real process, set by the test while the process runs or is stopped:
/// Tests/Faults/wall_clock.c, preloaded. Clocks that count from the start of the machine do not change.
///
///     let clock = try await WallClock()
///     let fetchd = try await FetchdProcess.start(.init(environment: clock.environment))
///     try clock.set(days: -1)
public struct WallClock: Sendable {
    /// Days in ten years.
    public static let tenYears = 3653

    private let folder: TemporaryFolder
    private let library: String

    /// The clock shows the true time at first.
    public init() async throws {
        folder = try TemporaryFolder()
        library = try await PreloadedLibrary.wallClock.value
        try set(days: 0)
    }

    /// Sets the clock to the true time plus the given days.
    public func set(days: Int) throws {
        let offset = withUnsafeBytes(of: Int64(days) * 86_400) { Data($0) }
        // Written into the file that the process has mapped, without replacing the file.
        if !FileManager.default.fileExists(atPath: file) { try offset.write(to: URL(filePath: file)) }
        let handle = try FileHandle(forUpdating: URL(filePath: file))
        try handle.write(contentsOf: offset)
        try handle.close()
    }

    /// The environment in which a process uses this clock.
    public var environment: [String: String] { ["LD_PRELOAD": library, "WALL_CLOCK_OFFSET": file] }

    private var file: String { folder.path("offset") }
}
