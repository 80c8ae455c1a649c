import TestKit

/// The scripts in Tests/Aria2, which use clients that others have written.
enum Aria2Clients {
    static func areInstalled() async -> Bool {
        for package in ["aria2p", "aioaria2", "websocket"] where await !Project.hasPythonPackage(package) {
            return false
        }
        return true
    }

    /// - Throws: `Overdue` with the output of the script, if it fails.
    static func run(_ script: String, _ arguments: [String]) async throws {
        let outcome = try await ChildProcess.run(
            Project.python, [Project.path("Tests/Aria2/\(script)")] + arguments)
        guard outcome.succeeded else {
            throw Overdue("\(script): \(outcome.ending) \(outcome.output)\(outcome.errors)")
        }
    }
}
