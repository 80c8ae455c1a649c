import ArgumentParser
import Client
import Configuration
import Formats
import Foundation
import Storage
import StoragePostgres
import StorageSQLite

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "config", "Shows the settings of the service, or checks a configuration file.",
        subcommands: [ConfigShowCommand.self, ConfigCheckCommand.self])
}

struct ConfigShowCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        "show", "Prints each setting of the service, its source and its value.",
        discussion: """
            The command takes the options and the environment of 'fetchd serve', and reads the same configuration file. The \
            sources are flag, environment, file, default, and api: a client has set the value with PATCH /v1/service, and the \
            database in the data folder has it. Secrets are not shown.

            EXIT STATUS:
              0    the settings are valid
              1    the database cannot be read
              64   an option or a setting cannot be used
            """,
        examples: "config show", "config show --max-concurrent-jobs 4 --json")

    @OptionGroup var options: ServeOptions
    @Flag(help: "Print one JSON document, with the names of the configuration file.") var json = false
    @Flag(help: ArgumentHelp("Print the table of docs/configuration.md.", visibility: .hidden)) var table = false

    func perform() throws {
        if table { return print(Setting.documentation) }
        let sources = try SettingsSources(flags: options.flags, configFile: options.config)
        let settings = try ShownSettings(sources)
        print(json ? settings.document.written : settings.lines.joined(separator: "\n"))
    }
}

struct ConfigCheckCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        "check", "Lists all mistakes in a configuration file.",
        discussion: """
            Each mistake is a line on standard error, with the line in the file. The command looks at the file alone: it \
            neither reads the environment nor opens folders, sockets or keys.

            EXIT STATUS:
              0    the file has no mistake
              64   the file cannot be read
              78   the file has mistakes
            """,
        examples: "config check fetchd.json")

    @Argument(help: ArgumentHelp("The configuration file (JSON).", valueName: "file"), completion: .file())
    var file: String

    func perform() throws {
        let mistakes = try ConfigurationCheck(of: file).mistakes
        guard !mistakes.isEmpty else { return print("\(file) has no mistake.") }
        for mistake in mistakes {
            let place = mistake.line.map { "\(file):\($0)" } ?? file
            StandardStreams.writeError("\(place): \(mistake.text)")
        }
        // EX_CONFIG of sysexits.h.
        throw ExitCode(78)
    }
}

/// All settings with the values that `fetchd serve` would use, and where each comes from. Secrets are not shown.
private struct ShownSettings {
    struct Row {
        var setting: Setting
        var value: JSON
        var source: SettingSource
    }

    let rows: [Row]

    /// - Throws: `SettingsError` if a value is invalid; `StoreError` if the database cannot be read.
    init(_ sources: SettingsSources) throws {
        let settings = try ServiceSettings(sources)
        let stored = try settings.stored()
        rows = try Setting.all.map { setting in
            if setting.isRunning, let value = stored[setting.name.rawValue], (try? setting.check(value)) != nil {
                return Row(setting: setting, value: value, source: .api)
            }
            let value = try Self.value(of: setting, settings, sources)
            return Row(setting: setting, value: setting.shown(value), source: sources.source(of: setting))
        }
    }

    private static func value(
        of setting: Setting, _ settings: ServiceSettings, _ sources: SettingsSources
    ) throws -> JSON {
        if !setting.isRunning, let given = try sources.value(setting) { return given }
        return switch setting.name {
        case .dataDir: .string(settings.dataFolder)
        case .downloadsDir: .string(settings.downloadsFolder)
        default: setting.value(in: settings.start.values)
        }
    }

    /// The document has the form of `GET /v1/service`.
    var document: JSON {
        var (document, sources) = (JSONObject(), JSONObject())
        for row in rows {
            document[row.setting.name.rawValue] = row.value
            sources[row.setting.name.rawValue] = .string(row.source.rawValue)
        }
        document["sources"] = .object(sources)
        return .object(document)
    }

    var lines: [String] {
        let width = rows.map(\.setting.name.rawValue.count).max() ?? 0
        return rows.map { row in
            let name = row.setting.name.rawValue.padding(toLength: width, withPad: " ", startingAt: 0)
            let source = row.source.rawValue.padding(toLength: Self.sourceWidth, withPad: " ", startingAt: 0)
            return "\(name)  \(source)  \(Self.text(row.value))"
        }
    }

    private static let sourceWidth = SettingSource.allCases.map(\.rawValue.count).max() ?? 0

    /// Rules of a schedule have commas.
    private static func list(_ texts: [String]) -> String {
        texts.joined(separator: texts.contains { $0.contains(",") } ? "; " : ", ")
    }

    private static func text(_ value: JSON) -> String {
        switch value {
        case .null: "-"
        case .string(let text): text
        case .array(let elements) where elements.isEmpty: "-"
        case .array(let elements): list(elements.map(text))
        case .bool, .integer, .number, .object, .text: value.written
        }
    }
}

extension ServiceSettings {
    /// What clients have set, as the database has it.
    ///
    /// - Throws: `StoreError` if the database cannot be read.
    func stored() throws -> [String: JSON] {
        guard let server = start.values.store else { return try Store.settings(inDataFolder: dataFolder) }
        return try Store.settings(inServer: server.url)
    }
}
