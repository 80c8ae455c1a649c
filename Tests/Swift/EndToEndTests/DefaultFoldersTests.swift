import Configuration
import Formats
import Foundation
import TestKit
import Testing

/// Where a service without the settings for its folders stores its database and its files.
@Suite struct DefaultFoldersTests {
    struct Case: Sendable {
        var isRoot = false
        var environment: [String: String] = [:]
        var userDirectories: String?
        var data: String
        var downloads: String
    }

    private static let cases = [
        Case(data: "/home/ada/.local/share/fetchd", downloads: "/home/ada/Downloads/fetchd"),
        Case(
            environment: ["XDG_DATA_HOME": "/home/ada/data"], data: "/home/ada/data/fetchd",
            downloads: "/home/ada/Downloads/fetchd"),
        Case(
            environment: ["XDG_DATA_HOME": "data"], data: "/home/ada/.local/share/fetchd",
            downloads: "/home/ada/Downloads/fetchd"),
        Case(
            userDirectories: "# a comment\nXDG_DESKTOP_DIR=\"$HOME/Bureau\"\nXDG_DOWNLOAD_DIR=\"$HOME/Fichiers\"\n",
            data: "/home/ada/.local/share/fetchd", downloads: "/home/ada/Fichiers/fetchd"),
        Case(
            userDirectories: "XDG_DOWNLOAD_DIR=\"/media/files\"", data: "/home/ada/.local/share/fetchd",
            downloads: "/media/files/fetchd"),
        Case(
            userDirectories: "XDG_DOWNLOAD_DIR=\"files\"", data: "/home/ada/.local/share/fetchd",
            downloads: "/home/ada/Downloads/fetchd"),
        Case(isRoot: true, data: "/var/lib/fetchd/data", downloads: "/var/lib/fetchd/downloads"),
        Case(
            isRoot: true, environment: ["XDG_DATA_HOME": "/root/data"], data: "/var/lib/fetchd/data",
            downloads: "/var/lib/fetchd/downloads"),
        Case(
            environment: ["STATE_DIRECTORY": "/var/lib/fetchd:/var/lib/other"], data: "/var/lib/fetchd/data",
            downloads: "/var/lib/fetchd/downloads"),
    ]

    @Test(arguments: cases) func dependOnUserAndEnvironment(_ given: Case) {
        let folders = DefaultFolders(
            isRoot: given.isRoot, home: "/home/ada", environment: given.environment,
            userDirectories: given.userDirectories)
        #expect(folders.data == given.data && folders.downloads == given.downloads)
    }

    /// A start in another folder finds the same database.
    @Test func doNotDependOnWorkingDirectory() async throws {
        let state = try TemporaryFolder()
        for _ in 1...2 {
            let log = try await Self.logOfStart(in: TemporaryFolder(), state: state.path)
            let first = try #require(log.split(separator: "\n").first)
            #expect(first.contains("Database: \(state.path)/data/fetchd.sqlite. Downloads: \(state.path)/downloads."))
            #expect(!log.contains("warning"), "\(log)")
        }
        #expect(FileManager.default.fileExists(atPath: state.path("downloads/.incomplete")))
    }

    /// A start must not begin with an empty database beside the one that 0.2.0 used.
    @Test func refuseADatabaseInTheWorkingDirectoryThatIsNotNamed() async throws {
        let (state, working) = (try TemporaryFolder(), try TemporaryFolder())
        _ = try await Self.logOfStart(
            ["--data-dir", "./data", "--downloads-dir", "./downloads"], in: working, state: state.path)
        for command in [["serve"], ["backup", "copy.sqlite"]] {
            let outcome = try await FetchdProcess.run(
                command, environment: ["STATE_DIRECTORY": state.path], workingFolder: working.path)
            #expect(outcome.ending == .exited(64))
            #expect(outcome.errors.contains("\(working.path)/data/fetchd.sqlite"), "\(outcome.errors)")
            #expect(outcome.errors.contains("--data-dir ./data and --downloads-dir ./downloads"), "\(outcome.errors)")
        }
        #expect(state.files.isEmpty)
        // With a database in the default folder, the user has decided.
        _ = try await Self.logOfStart(in: TemporaryFolder(), state: state.path)
        let log = try await Self.logOfStart(in: working, state: state.path)
        #expect(log.contains("Database: \(state.path)/data/fetchd.sqlite."), "\(log)")
    }

    /// A file and a variable do not pass through a shell.
    @Test func settingsCanBeginAtTheHomeFolder() async throws {
        let (home, working) = (try TemporaryFolder(), try TemporaryFolder())
        _ = try working.write(#"{"data_dir": "~/state/", "unix_socket": "~/s"}"#, to: "fetchd.json")
        let log = try await Self.logOfStart(
            ["--config", "fetchd.json"], in: working, state: home.path,
            ["HOME": home.path, "FETCHD_DOWNLOADS_DIR": "~"])
        let first = try #require(log.split(separator: "\n").first)
        #expect(first.contains("Database: \(home.path)/state/fetchd.sqlite. Downloads: \(home.path)."), "\(first)")
        #expect(log.contains("unix:\(home.path)/s"), "\(log)")
        #expect(home.files.contains("state/fetchd.sqlite"))
        #expect(FileManager.default.fileExists(atPath: home.path(".incomplete")))
        #expect(working.files == ["fetchd.json"])
    }

    @Test func refusesHomeFolderOfAnotherUser() throws {
        for name: SettingName in [.dataDir, .downloadsDir, "unix_socket", .keyFile] {
            let sources = try SettingsSources(flags: [name: "~ada/files"], configFile: nil, environment: [:])
            let error = #expect(throws: SettingsError.self) { try sources.settings(only: [name]) }
            #expect(error?.description.hasPrefix("\(name.rawValue) is '~ada/files'") == true)
        }
        #expect(throws: SettingsError.self) { try SettingsSources(flags: [:], configFile: "~ada/f", environment: [:]) }
    }

    /// Earlier versions took `~` for the name of a folder.
    @Test func refusesToLeaveFilesOfAnEarlierVersionBehind() async throws {
        let working = try TemporaryFolder()
        _ = try working.write("", to: "~/data/fetchd.sqlite")
        let outcome = try await FetchdProcess.run(
            ["config", "show", "--data-dir", "~/data"], environment: ["HOME": "/home/ada"], workingFolder: working.path)
        #expect(outcome.ending == .exited(64))
        #expect(outcome.errors.contains("means /home/ada/data"), "\(outcome.errors)")
        #expect(outcome.errors.contains("./~/data"), "\(outcome.errors)")
    }

    @Test func logNamesTheFolderThatIsOpen() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("", to: "a/b/file")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: folder.path("a/b"))
        #expect(AbsolutePath.of(folder.path("link/../x/./")) == folder.path("link/../x"))
        #expect(AbsolutePath.of(folder.path("link/../b")) == folder.path("a/b"))
        #expect(AbsolutePath.of("~/x").hasSuffix("/~/x") && AbsolutePath.of("~/x").hasPrefix("/"))
    }

    /// Starts the program and stops it when it is ready.
    private static func logOfStart(
        _ arguments: [String] = [], in folder: TemporaryFolder, state: String, _ environment: [String: String] = [:]
    ) async throws -> String {
        let child = try await ChildProcess(
            FetchdProcess.program, ["serve", "--listen", "127.0.0.1:0"] + arguments,
            environment: environment.merging(["STATE_DIRECTORY": state]) { $1 }, workingFolder: folder.path)
        _ = try await eventually("fetchd to be ready") {
            if let ending = child.endingSoFar { throw Overdue("fetchd ended (\(ending)): \(child.errors)") }
            return child.errors.contains(" is ready at ") ? true : nil
        }
        child.signal(SIGTERM)
        #expect(try await child.waitForEnd() == .exited(0))
        return child.errors
    }
}
