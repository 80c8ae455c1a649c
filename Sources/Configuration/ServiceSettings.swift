import Formats
import Foundation
import Glibc
import Storage

/// The settings with which the service is started: those of options, environment, file and defaults.
public struct StartSettings: Sendable {
    public var values: Settings
    /// A setting without a source has its default.
    public var sources: [SettingName: SettingSource]
    /// The largest number of jobs that the system lets run at once.
    public var mostConcurrentJobs: Int
    /// Whether several services can share the database. Then the jobs that a client allows are those of all of them together,
    /// and the start sets the limit of this one.
    public var isNode: Bool

    public init(
        _ values: Settings = Settings(), sources: [SettingName: SettingSource] = [:],
        mostConcurrentJobs: Int = .max, isNode: Bool = false
    ) {
        self.values = values
        self.sources = sources
        self.mostConcurrentJobs = mostConcurrentJobs
        self.isNode = isNode
    }

    /// Replaces the values that clients have set, as a start of the service does.
    public mutating func take(stored: [String: JSON]) {
        for (text, value) in stored {
            guard let setting = Setting[SettingName(rawValue: text)], setting.isRunning else { continue }
            try? setting.set(value, in: &values)
        }
    }
}

/// What a start of the service reads: the settings, and what follows from them on this machine.
public struct ServiceSettings: Sendable {
    public var start: StartSettings
    public let dataFolder: String
    public let downloadsFolder: String
    /// Variables of the environment that look like misspelled settings.
    public let unknownVariables: UnknownVariables

    /// - Throws: if the configuration file cannot be read or a value is invalid.
    public init(flags: [SettingName: JSON], configFile: String?) throws(SettingsError) {
        let sources = try SettingsSources(flags: flags, configFile: configFile)
        do throws(SettingsError) {
            try self.init(sources)
        } catch {
            guard let file = sources.file else { throw error }
            throw try ConfigurationCheck(of: file).completing(error)
        }
    }

    /// - Throws: if a value is invalid.
    public init(_ sources: SettingsSources) throws(SettingsError) {
        let values = try sources.settings()
        if values.sharesDownloads, values.store == nil {
            throw SettingsError("downloads is 'shared', but the service has a database of its own. Set --store, too.")
        }
        start = StartSettings(values, isNode: values.store != nil)
        for setting in Setting.all { start.sources[setting.name] = sources.source(of: setting) }
        let folders = DefaultFolders.ofProcess()
        if values.dataDir == nil { try folders.requireNoDatabaseOfAnEarlierVersion() }
        dataFolder = values.dataDir ?? folders.data
        downloadsFolder = values.downloadsDir ?? folders.downloads
        unknownVariables = sources.unknownVariables
        // An existing database may have an administrator's token. The service looks when it has opened the database.
        let mayHaveToken =
            values.store != nil || FileManager.default.fileExists(atPath: dataFolder + "/fetchd.sqlite")
        if let demand = values.tokenDemand, values.token == nil, !mayHaveToken { throw SettingsError(demand) }
    }
}

/// The folders of a service whose settings do not name them. They do not depend on the working directory.
public struct DefaultFolders: Sendable, Equatable {
    public var data: String
    public var downloads: String

    /// - Parameter userDirectories: the text of `user-dirs.dirs` of xdg-user-dirs; nil without this file.
    public init(isRoot: Bool, home: String, environment: [String: String], userDirectories: String?) {
        // systemd sets STATE_DIRECTORY for a unit with StateDirectory= (systemd.exec(5)).
        let state = environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
        if let common = state ?? (isRoot ? "/var/lib/fetchd" : nil) {
            (data, downloads) = (common + "/data", common + "/downloads")
        } else {
            let shared = Self.absolute(environment["XDG_DATA_HOME"]) ?? home + "/.local/share"
            let personal = userDirectories.flatMap { Self.downloads(in: $0, home: home) } ?? home + "/Downloads"
            (data, downloads) = (shared + "/fetchd", personal + "/fetchd")
        }
    }

    /// Relative paths are ignored (XDG Base Directory Specification 0.8).
    private static func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }

    /// The value of `XDG_DOWNLOAD_DIR="$HOME/..."` or `="/..."` (user-dirs.dirs(5)).
    private static func downloads(in text: String, home: String) -> String? {
        let name = "XDG_DOWNLOAD_DIR=\""
        guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix(name) }), line.hasSuffix("\"") else {
            return nil
        }
        let path = String(line.dropFirst(name.count).dropLast())
        return absolute(path.hasPrefix("$HOME/") ? home + path.dropFirst("$HOME".count) : path)
    }

    /// The folders of this process.
    public static func ofProcess() -> DefaultFolders {
        let environment = ProcessInfo.processInfo.environment
        let home = FileManager.default.homeDirectoryForCurrentUser.path
        let configuration = absolute(environment["XDG_CONFIG_HOME"]) ?? home + "/.config"
        return DefaultFolders(
            isRoot: geteuid() == 0, home: home, environment: environment,
            userDirectories: try? String(contentsOfFile: configuration + "/user-dirs.dirs", encoding: .utf8))
    }

    /// fetchd 0.2.0 used a database in `data` of the working directory. A start must not begin with an empty one instead.
    ///
    /// - Throws: if there is such a database, and none in the default folder.
    public func requireNoDatabaseOfAnEarlierVersion() throws(SettingsError) {
        let former = FileManager.default.currentDirectoryPath + "/data/fetchd.sqlite"
        guard FileManager.default.fileExists(atPath: former),
            !FileManager.default.fileExists(atPath: data + "/fetchd.sqlite")
        else { return }
        throw SettingsError(
            "An earlier version of fetchd has left its database in \(former), and this one does not look there by itself. To use it, give --data-dir ./data and --downloads-dir ./downloads, or the settings data_dir and downloads_dir. For a new database in \(data), give --data-dir \(data)."
        )
    }
}

/// The absolute form of a path, for messages and for clients.
public enum AbsolutePath {
    /// The path that the kernel opens.
    ///
    /// - Parameter path: relative to the working directory, or absolute. `~` is a name like any other.
    public static func of(_ path: String) -> String {
        let whole = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        let components = PathComponents.split(whole).filter { $0 != "." }
        // After a link, `..` leads elsewhere than the text says.
        if components.contains(".."), let resolved = realpath(whole, nil) {
            defer { free(resolved) }
            return String(cString: resolved)
        }
        return "/" + components.joined(separator: "/")
    }
}
