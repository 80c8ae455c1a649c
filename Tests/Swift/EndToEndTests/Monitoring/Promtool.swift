import TestKit

/// Prometheus' own checks of metrics and rules.
enum Promtool {
    static var isAvailable: Bool {
        get async { (try? await ChildProcess.run("promtool", ["--version"]).succeeded) ?? false }
    }

    static func run(_ arguments: String..., input: String = "", in folder: String? = nil) async throws
        -> ChildProcess.Outcome
    {
        try await ChildProcess.run("promtool", arguments, workingFolder: folder, input: Array(input.utf8))
    }
}
