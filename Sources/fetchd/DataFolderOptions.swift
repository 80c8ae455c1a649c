import ArgumentParser
import Daemon
import Formats

/// The data folder of a command that runs beside the service, or in its place.
struct DataFolderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The data folder; also FETCHD_DATA_DIR or --config. (default: \(Settings.Defaults.dataDir))",
            valueName: "dir"))
    var dataDir: String?

    @Option(help: ArgumentHelp("The configuration file (JSON) of the service. (default: none)", valueName: "file"))
    var config: String?

    /// - Parameter flags: further options of the command.
    func sources(_ flags: [Settings.Key: JSON] = [:]) throws -> SettingsSources {
        let folder: [Settings.Key: JSON] = dataDir.map { [.dataDir: .string($0)] } ?? [:]
        return try SettingsSources(flags: flags.merging(folder) { $1 }, configFile: config)
    }

    /// - Throws: `SettingsError` if the jobs are not in the data folder.
    func folder(in sources: SettingsSources) throws -> String {
        if let store = try sources.store {
            throw SettingsError(
                "The jobs are in \(store.shown), and this command is for an SQLite database. Use PostgreSQL's own tools, such as pg_dump, or unset the setting store."
            )
        }
        return try path(in: sources)
    }

    private func path(in sources: SettingsSources) throws -> String {
        try sources.path(.dataDir) ?? DefaultFolders.ofProcess(usesWorkingDirectory: true).data
    }
}
