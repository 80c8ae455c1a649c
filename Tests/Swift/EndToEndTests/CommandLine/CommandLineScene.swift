import Downloads
import Formats
import TestKit
import Testing

/// A service, an origin, and the program as its client, with nothing configured but the service's URL.
struct CommandLineScene: Sendable {
    let scene: Scene
    /// The client's working directory and home, so that no configuration of the user applies.
    let folder: TemporaryFolder

    var fetchd: FetchdProcess { scene.process }
    var api: APIClient { scene.api }

    init(_ options: FetchdProcess.Options = .init()) async throws {
        scene = try await Scene(process: options)
        folder = try TemporaryFolder()
    }

    func url(_ path: String) -> String { scene.origin.url(path) }

    var environment: [String: String] { Self.environment(fetchd.baseURL, folder) }

    static func environment(_ url: String, _ folder: TemporaryFolder) -> [String: String] {
        [
            "FETCHD_URL": url, "HOME": folder.path, "XDG_CONFIG_HOME": folder.path, "LC_ALL": "C.UTF-8",
            "TERM": "xterm",
            // `swift test` sets NO_COLOR if its own output is no terminal.
            "NO_COLOR": "",
        ]
    }

    /// Runs a command until it ends.
    func run(
        _ arguments: String..., input: String = "", environment: [String: String] = [:]
    ) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            FetchdProcess.program, arguments, environment: self.environment.merging(environment) { $1 },
            workingFolder: folder.path, input: Array(input.utf8))
    }

    func run(_ arguments: [String], input: String = "") async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            FetchdProcess.program, arguments, environment: environment, workingFolder: folder.path,
            input: Array(input.utf8))
    }

    /// Starts a command.
    func start(_ arguments: String...) async throws -> ChildProcess {
        try await ChildProcess(
            FetchdProcess.program, arguments, environment: environment, workingFolder: folder.path)
    }

    /// A command in its own terminal (`script` of util-linux); its output is what the terminal received. The file `pid`
    /// holds its process identifier.
    func inTerminal(_ command: String, columns: Int = 100, rows: Int = 12) async throws -> ChildProcess {
        let line = "stty cols \(columns) rows \(rows); echo $$ > pid; exec \(FetchdProcess.program) \(command)"
        return try await ChildProcess(
            "script", ["-qefc", line, "/dev/null"], environment: environment, workingFolder: folder.path)
    }

    /// Runs shell lines in which `fetchd` is the program.
    func shell(_ script: String) async throws -> ChildProcess.Outcome {
        let program = "fetchd() { \(FetchdProcess.program) \"$@\"; }\n"
        return try await ChildProcess.run(
            "/bin/bash", ["-uo", "pipefail", "-c", program + script], environment: environment,
            workingFolder: folder.path)
    }
}

extension ChildProcess.Outcome {
    var json: JSON { (try? JSON(parsing: Array(output.utf8))) ?? .null }
    var errorJSON: JSON { (try? JSON(parsing: Array(errors.utf8))) ?? .null }
    var lines: [String] { output.split(separator: "\n").map(String.init) }
}
