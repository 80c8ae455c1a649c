import TestKit
import Testing

/// A user story in a browser: one of the stories in Tests/Browser, in headless Chromium.
struct BrowserStory {
    private let child: ChildProcess

    /// Whether Chromium, its driver and Selenium are installed.
    static var isPossible: Bool { get async { await installation.value } }

    private static let installation = Task {
        for (program, arguments) in [
            ("/usr/lib/chromium/chromium-headless-shell", ["--version"]), ("chromedriver", ["--version"]),
            (Project.python, ["-c", "import selenium, selenium_axe_python"]),
        ] {
            let outcome = try? await ChildProcess.run(program, arguments)
            guard outcome?.succeeded == true else { return false }
        }
        return true
    }

    static let reason: Comment = "needs chromium-headless-shell, chromium-driver and PyPI's selenium: run scripts/setup"

    /// - Parameter arguments: the story's arguments, with the page's URL first.
    init(_ name: String, _ arguments: String...) async throws {
        try await self.init(name, in: "stories.py", arguments)
    }

    init(_ name: String, in file: String, _ arguments: [String]) async throws {
        child = try await ChildProcess(
            Project.python, [Project.path("Tests/Browser/\(file)"), name] + arguments,
            environment: ["PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"])
    }

    /// The lines printed so far.
    var lines: [Substring] { child.output.split(separator: "\n") }

    /// Waits until the story prints a line.
    func said(_ words: String) async throws {
        _ = try await eventually("the story to say '\(words)'") {
            if lines.contains(Substring(words)) { return true }
            if let ending = child.endingSoFar { throw Overdue("The story ended (\(ending)):\n\(child.errors)") }
            return nil
        }
    }

    /// Waits until the story ends with success. A story that fails ends by itself, much earlier.
    func ended(atMost timeout: Duration = .patience) async throws {
        let ending = try await child.waitForEnd(atMost: timeout)
        guard ending == .exited(0) else { throw Overdue("The story ended (\(ending)):\n\(child.errors)") }
    }
}
