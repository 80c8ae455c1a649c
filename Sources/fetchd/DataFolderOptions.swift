import ArgumentParser
import Daemon
import Formats

/// The options of a command that opens the data folder of a service.
struct DataFolderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The data folder; also FETCHD_DATA_DIR or --config. (default: \(Settings.Defaults.dataDir))",
            valueName: "dir"))
    var dataDir: String?

    @Option(help: ArgumentHelp("The configuration file (JSON) of the service. (default: none)", valueName: "file"))
    var config: String?

    /// - Throws: `SettingsError`.
    func sources(adding flags: [Settings.Key: JSON] = [:]) throws -> SettingsSources {
        let folder: [Settings.Key: JSON] = dataDir.map { [.dataDir: .string($0)] } ?? [:]
        return try SettingsSources(flags: folder.merging(flags) { $1 }, configFile: config)
    }

    /// The path of the data folder.
    ///
    /// - Throws: `SettingsError`.
    var folder: String {
        get throws { try sources().path(.dataDir) ?? DefaultFolders.ofProcess(usesWorkingDirectory: true).data }
    }
}
