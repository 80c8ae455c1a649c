import Foundation
import Glibc

/// A program that a test runs. It never outlives the tests: `setpriv` asks the kernel to kill it when the thread that
/// started it ends, also when the tests crash.
public final class ChildProcess: Sendable {
    public enum Ending: Sendable, Equatable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// The ending of a program, and its output.
    public struct Outcome: Sendable {
        public let ending: Ending
        public let output: String
        public let errors: String

        public var succeeded: Bool { ending == .exited(0) }
    }

    private let command: [String]
    private let program: SpawnedProgram
    private let ending = Monitor<Ending?>(nil)
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - executable: a path, or the name of a program on the `PATH`.
    ///   - environment: replaces variables of the same names; the tests' own `FETCHD_...` variables are not inherited.
    public init(
        _ executable: String, _ arguments: [String], environment: [String: String] = [:], workingFolder: String? = nil,
        input: [UInt8] = []
    ) async throws {
        try FastTests.leaveOutPrograms()
        let command = [executable] + arguments
        let folder = try TemporaryFolder()
        let variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("FETCHD_") }
            .merging(environment) { $1 }
        try Data(input).write(to: URL(filePath: folder.path("input")))
        let streams = SpawnedProgram.Streams(
            input: folder.path("input"), output: folder.path("output"), errors: folder.path("errors"))
        program = try await SpawningThread.run {
            try SpawnedProgram(
                ["setpriv", "--pdeathsig", "KILL", "--"] + command, environment: variables,
                workingFolder: workingFolder, streams: streams)
        }
        self.command = command
        self.folder = folder
        detachThread { [program, ending] in
            let end = program.waitForEnd()
            ending.withLock {
                $0 = end
                program.release()
            }
        }
    }

    deinit { signal(SIGKILL) }

    /// Runs a program until it ends.
    public static func run(
        _ executable: String, _ arguments: [String], environment: [String: String] = [:], workingFolder: String? = nil,
        input: [UInt8] = [], atMost timeout: Duration = .patience
    ) async throws -> Outcome {
        let child = try await ChildProcess(
            executable, arguments, environment: environment, workingFolder: workingFolder, input: input)
        let ending = try await child.waitForEnd(atMost: timeout)
        return Outcome(ending: ending, output: child.output, errors: child.errors)
    }

    /// The output so far.
    public var output: String { text("output") }
    public var errors: String { text("errors") }

    /// nil while the program runs.
    public var endingSoFar: Ending? { ending.current }

    /// The identifier of the running process.
    public var pid: Int32 { program.id }

    public func signal(_ number: Int32) {
        // Under the lock: after the end, the identifier may belong to another process.
        ending.withLock { ending in
            if ending == nil { Glibc.kill(program.id, number) }
        }
    }

    @discardableResult
    public func waitForEnd(atMost timeout: Duration = .patience) async throws -> Ending {
        guard await ending.wait(atMost: timeout, until: { $0 != nil }), let ending = ending.current else {
            signal(SIGABRT)
            throw Overdue("Waited in vain for the end of \(command). It had written:\n\(errors)")
        }
        return ending
    }

    private func text(_ name: String) -> String { String(decoding: folder.bytes(of: name) ?? [], as: UTF8.self) }
}
