import Foundation

/// The folder of the sources, for tests of files beside the program.
public enum Project {
    public static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    public static func path(_ name: String) -> String { root.appending(path: name).path }

    /// The Python that scripts/setup has set up, or the system's.
    public static let python =
        FileManager.default.isExecutableFile(atPath: path(".venv/bin/python")) ? path(".venv/bin/python") : "python3"

    public static func hasPythonPackage(_ name: String) async -> Bool {
        let outcome = try? await ChildProcess.run(python, ["-c", "import \(name)"])
        return outcome?.succeeded ?? false
    }
}
