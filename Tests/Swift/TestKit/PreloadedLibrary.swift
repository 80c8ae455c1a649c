import Foundation

/// A C library of Tests/Faults that the environment of a real process loads before all others. Each run of the tests compiles
/// it once.
enum PreloadedLibrary {
    static let diskFaults = Task { try await compile("disk_faults", ["-lpthread"]) }
    static let wallClock = Task { try await compile("wall_clock", []) }

    /// - Returns: the path of the library.
    private static func compile(_ name: String, _ options: [String]) async throws -> String {
        let folder = Project.path(".build/test-libraries")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let (library, draft) = ("\(folder)/\(name).so", "\(folder)/\(name).\(getpid())")
        let outcome = try await ChildProcess.run(
            "cc", ["-shared", "-fPIC", "-O2", "-o", draft, Project.path("Tests/Faults/\(name).c"), "-ldl"] + options)
        // Another run of the tests can use the library.
        guard outcome.succeeded, rename(draft, library) == 0 else {
            throw Overdue("\(name).c does not compile: \(outcome.errors)")
        }
        return library
    }
}
