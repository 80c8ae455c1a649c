import Foundation
import Glibc

/// A program that a test runs. It never outlives the tests: `setpriv` asks the kernel to kill it when the thread that
/// started it ends, which even a crash of the tests brings about.
public final class ChildProcess: Sendable {
    public enum Ending: Sendable, Equatable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// A program that has ended, and what it wrote.
    public struct Outcome: Sendable {
        public let ending: Ending
        public let output: String
        public let errors: String

        public var succeeded: Bool { ending == .exited(0) }
    }

    private let process = Process()
    private let ending = Monitor<Ending?>(nil)
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - executable: a path, or the name of a program on the `PATH`.
    ///   - environment: in place of variables of the same names; `FETCHD_...` of the tests' own are not passed on.
    public init(
        _ executable: String, _ arguments: [String], environment: [String: String] = [:], workingFolder: String? = nil,
        input: [UInt8] = []
    ) async throws {
        try FastTests.leaveOutPrograms()
        folder = try TemporaryFolder()
        process.executableURL = URL(filePath: "/usr/bin/env")
        // As from a terminal: whoever runs the tests in the background has the keyboard's signals ignored.
        process.arguments =
            ["--default-signal=INT,QUIT", "setpriv", "--pdeathsig", "KILL", "--", executable] + arguments
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("FETCHD_") }
            .merging(environment) { $1 }
        if let workingFolder { process.currentDirectoryURL = URL(filePath: workingFolder) }
        process.standardInput = try Self.file(folder.path("input"), holding: input)
        process.standardOutput = try Self.file(folder.path("output"))
        process.standardError = try Self.file(folder.path("errors"))
        process.terminationHandler = { [ending] process in
            let isKilled = process.terminationReason == .uncaughtSignal
            ending.withLock {
                $0 = isKilled ? .killed(signal: process.terminationStatus) : .exited(process.terminationStatus)
            }
        }
        try await SpawningThread.run { [self] in try process.run() }
    }

    deinit { signal(SIGKILL) }

    /// Runs a program to its end.
    public static func run(
        _ executable: String, _ arguments: [String], environment: [String: String] = [:], workingFolder: String? = nil,
        input: [UInt8] = [], atMost timeout: Duration = .seconds(60)
    ) async throws -> Outcome {
        let child = try await ChildProcess(
            executable, arguments, environment: environment, workingFolder: workingFolder, input: input)
        let ending = try await child.waitForEnd(atMost: timeout)
        return Outcome(ending: ending, output: child.output, errors: child.errors)
    }

    /// What it wrote so far.
    public var output: String { text("output") }
    public var errors: String { text("errors") }

    public var processIdentifier: Int32 { process.processIdentifier }

    /// nil while it runs.
    public var endingSoFar: Ending? { ending.current }

    /// Of the process while it runs.
    public var pid: Int32 { process.processIdentifier }

    public func signal(_ number: Int32) {
        // Under the lock: once the end is noted, the number may be somebody else's.
        ending.withLock { ending in
            if ending == nil, process.processIdentifier > 0 { Glibc.kill(process.processIdentifier, number) }
        }
    }

    @discardableResult
    public func waitForEnd(atMost timeout: Duration = .seconds(60)) async throws -> Ending {
        guard await ending.wait(atMost: timeout, until: { $0 != nil }), let ending = ending.current else {
            signal(SIGABRT)
            throw Overdue("Waited in vain for the end of \(process.arguments ?? []). It had written:\n\(errors)")
        }
        return ending
    }

    private func text(_ name: String) -> String { String(decoding: folder.bytes(of: name) ?? [], as: UTF8.self) }

    private static func file(_ path: String, holding bytes: [UInt8] = []) throws -> FileHandle {
        try Data(bytes).write(to: URL(filePath: path))
        return try FileHandle(forUpdating: URL(filePath: path))
    }
}
