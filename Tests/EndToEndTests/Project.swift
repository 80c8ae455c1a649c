import Foundation

/// The folder of the sources: for tests of what lies beside the program.
enum Project {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func path(_ name: String) -> String { root.appending(path: name).path }

    /// The Python that scripts/install has furnished, else the system's.
    static let python =
        FileManager.default.isExecutableFile(atPath: path(".venv/bin/python")) ? path(".venv/bin/python") : "python3"
}
