import ArgumentParser
import Configuration
import Formats
import Foundation
import Sealing
import Storage

/// The options of a command that are settings. Their names, help and defaults are those of the table of settings, so no option is
/// declared twice.
///
/// The parser finds options by reflection: it reads the property wrappers from the mirror of an empty value, and later asks for
/// their values by the same names.
struct SettingOptions<Rows: SettingRows>: ParsableArguments, CustomReflectable {
    /// Only the options that were given.
    let flags: [SettingName: JSON]

    init() { flags = [:] }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: SettingKey.self)
        flags = try Rows.settings.reduce(into: [:]) { $0[$1.name] = try $1.given(in: values) }
    }

    var customMirror: Mirror {
        Mirror(self, children: Rows.declarations)
    }
}

/// The settings that a command has options for.
protocol SettingRows {
    static var settings: [Setting] { get }
    /// The property wrappers of the options, by the names of the settings.
    static var declarations: [Mirror.Child] { get }
}

/// `fetchd serve` has an option for every setting but the token.
enum AllRows: SettingRows {
    static var settings: [Setting] { Setting.options }
    nonisolated(unsafe) static let declarations = settings.map(\.declaration)
}

/// Some commands have the options that say where the key comes from.
enum KeyRows: SettingRows {
    static var settings: [Setting] { Setting.options.filter { [.keyFile, .keyCommand].contains($0.name) } }
    nonisolated(unsafe) static let declarations = settings.map(\.declaration)
}

private struct SettingKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Setting {
    /// The property wrapper that declares the option.
    fileprivate var declaration: Mirror.Child { (label: name.rawValue, value: wrapper) }

    private var wrapper: Any {
        let name = NameSpecification.customLong(optionName)
        let help = ArgumentHelp("\(meaning) (default: \(defaultText))", valueName: valueName)
        return switch kind {
        case .flag: Flag(wrappedValue: false, name: name, help: help)
        case .integer: Option<Int?>(name: name, help: help)
        case .texts(_, isRepeated: true):
            Option<[String]>(wrappedValue: [], name: name, parsing: .singleValue, help: help)
        case .texts(_, isRepeated: false), .text, .path, .bytes, .seconds: Option<String?>(name: name, help: help)
        }
    }

    /// The value of the option; nil: it was not given.
    fileprivate func given(in values: KeyedDecodingContainer<SettingKey>) throws -> JSON? {
        let key = SettingKey(stringValue: name.rawValue)
        func text() throws -> String? { try values.decode(Option<String?>.self, forKey: key).wrappedValue }
        switch kind {
        case .flag: return try values.decode(Flag<Bool>.self, forKey: key).wrappedValue ? true : nil
        case .integer: return try values.decode(Option<Int?>.self, forKey: key).wrappedValue.map(JSON.count)
        case .texts(_, isRepeated: true):
            let texts = try values.decode(Option<[String]>.self, forKey: key).wrappedValue
            return texts.isEmpty ? nil : .strings(texts)
        case .texts(let separator, isRepeated: false):
            return try text().map { .strings($0.split(separator: separator).map(String.init)) }
        case .text, .path, .bytes, .seconds: return try text().map(JSON.string)
        }
    }

    /// The default of a setting, for the help of other commands.
    static func defaultText(_ name: SettingName) -> String { Setting[name]?.defaultText ?? "none" }
}

// MARK: - Commands beside the service

/// The options of `fetchd serve`, as given. `ServiceSettings` combines them with the environment and the file.
///
/// They are one group, because the debug build of the parser checks the options of a nested group dozens of times at each start.
struct ServeOptions: ParsableArguments, CustomReflectable {
    let config: String?
    let settings: SettingOptions<AllRows>

    init() {
        config = nil
        settings = SettingOptions()
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: SettingKey.self)
        config = try values.decode(Option<String?>.self, forKey: Self.configKey).wrappedValue
        settings = try SettingOptions(from: decoder)
    }

    var customMirror: Mirror {
        let help = ArgumentHelp(
            "A configuration file (JSON) with any of these settings. (default: none)", valueName: "file")
        let file: Mirror.Child = (label: Self.configKey.stringValue, value: Option<String?>(help: help))
        return Mirror(self, children: [file] + AllRows.declarations)
    }

    private static let configKey = SettingKey(stringValue: "config")
}

/// The data folder of a command that runs beside the service, or in its place.
struct DataFolderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The data folder; also FETCHD_DATA_DIR or --config. (default: \(Setting.defaultText(.dataDir)))",
            valueName: "dir"))
    var dataDir: String?

    @Option(help: ArgumentHelp("The configuration file (JSON) of the service. (default: none)", valueName: "file"))
    var config: String?

    /// - Parameter flags: further options of the command.
    func sources(_ flags: [SettingName: JSON] = [:]) throws -> SettingsSources {
        let folder: [SettingName: JSON] = dataDir.map { [.dataDir: .string($0)] } ?? [:]
        return try SettingsSources(flags: flags.merging(folder) { $1 }, configFile: config)
    }

    /// - Throws: `SettingsError` if the jobs are not in the data folder.
    func folder(in sources: SettingsSources) throws -> String {
        if let store = try sources.store {
            throw SettingsError(
                "The jobs are in \(store.shown), and this command is for an SQLite database. Use PostgreSQL's own tools, such as pg_dump, or unset the setting store."
            )
        }
        if let named = try sources.settings(only: [.dataDir]).dataDir { return named }
        let folders = DefaultFolders.ofProcess()
        try folders.requireNoDatabaseOfAnEarlierVersion()
        return folders.data
    }
}

extension SettingsSources {
    /// The PostgreSQL database of the jobs; nil: SQLite in the data folder.
    var store: ServerAddress? {
        get throws { try settings(only: [.store]).store }
    }

    /// Where the key comes from that seals secrets.
    var key: KeySource {
        get throws { try settings(only: [.keyFile, .keyCommand]).key }
    }
}

extension ParsableArguments {
    /// The error with which a command ends: 64 for a mistake in the settings, 1 for a failure of the database.
    static func ending(with error: any Error) -> any Error {
        switch error {
        case let error as SettingsError: return ValidationError(error.description)
        case let error as StoreError:
            FileHandle.standardError.write(Data("Error: \(error.description)\n".utf8))
            return ExitCode.failure
        default: return error
        }
    }
}
