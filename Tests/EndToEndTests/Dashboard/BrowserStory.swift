import TestKit
import Testing

/// A person with a browser: one of the stories in Tests/Browser/stories.py, in headless Chromium.
struct BrowserStory {
    private let child: ChildProcess

    /// Whether there is a browser, its driver, and what leads it.
    static var isPossible: Bool {
        get async {
            for (program, arguments) in [
                ("chromium", ["--version"]), ("chromedriver", ["--version"]),
                (Project.python, ["-c", "import selenium, selenium_axe_python"]),
            ] {
                let outcome = try? await ChildProcess.run(program, arguments)
                guard outcome?.succeeded == true else { return false }
            }
            return true
        }
    }

    static let reason: Comment = "needs chromium, chromium-driver and PyPI's selenium: run scripts/install"

    /// - Parameter arguments: what the story is told, the dashboard's address first.
    init(_ name: String, _ arguments: String...) async throws {
        child = try await ChildProcess(
            Project.python, [Project.path("Tests/Browser/stories.py"), name] + arguments,
            environment: ["PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"])
    }

    /// Waits until the story is so far.
    func said(_ words: String) async throws {
        _ = try await eventually("the story to say '\(words)'") {
            if child.output.split(separator: "\n").contains(Substring(words)) { return true }
            if let ending = child.endingSoFar { throw Overdue("The story ended (\(ending)):\n\(child.errors)") }
            return nil
        }
    }

    /// Waits for its good end.
    func ended() async throws {
        let ending = try await child.waitForEnd(atMost: .seconds(180))
        guard ending == .exited(0) else { throw Overdue("The story ended (\(ending)):\n\(child.errors)") }
    }
}
