import Configuration
import Formats
import Foundation

/// The sources of the settings, in order of precedence: options, the environment, the file of `--config`.
struct SettingsSources {
    /// A value from a source. Options and the file have typed values; the environment has only text.
    fileprivate enum Given {
        case value(JSON)
        case text(String)
    }

    private struct Source {
        /// For messages: `an option`.
        var name: String
        var kind: SettingSource
        var look: (Settings.Key) -> Given?
    }

    private let sources: [Source]
    /// Variables of the environment that look like misspelled settings.
    let unknownVariables: UnknownVariables
    /// The path of the configuration file; nil if there is none.
    let file: String?

    init(
        flags: [Settings.Key: JSON], configFile: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        var sources = [
            Source(name: "an option", kind: .flag) { flags[$0].map(Given.value) },
            Source(name: "the environment", kind: .environment) { environment[$0.environmentName].map(Given.text) },
        ]
        unknownVariables = UnknownVariables(
            in: environment, besides: Settings.Key.allCases.map(\.environmentName) + [Self.fileVariable])
        file = try (configFile ?? environment[Self.fileVariable]).map { try Self.expanded($0, "config") }
        if let file {
            let members = try Self.read(file)
            sources.append(Source(name: file, kind: .file) { members[$0.rawValue].map(Given.value) })
        }
        self.sources = sources
    }

    private static let fileVariable = "FETCHD_CONFIG"

    private static func read(_ path: String) throws -> JSONObject {
        let members = try ConfigurationFile(path).members()
        if let unknown = members.names.first(where: { Settings.Key(rawValue: $0) == nil }) {
            throw try ConfigurationCheck(of: path).completing(ConfigurationCheck.unknown(unknown))
        }
        return members
    }

    /// The values of a file alone.
    init(of members: JSONObject, in path: String) {
        file = path
        unknownVariables = UnknownVariables(in: [:], besides: [])
        sources = [Source(name: path, kind: .file) { members[$0.rawValue].map(Given.value) }]
    }

    private func find(_ key: Settings.Key) -> (given: Given, source: Source)? {
        for source in sources {
            if let given = source.look(key) { return (given, source) }
        }
        return nil
    }

    /// Where the value comes from.
    func source(of key: Settings.Key) -> SettingSource { find(key)?.source.kind ?? .default }

    /// The value of the strongest source that has one, of the type of the setting. nil if no source has one.
    ///
    /// - Throws: `SettingsError` if the value has another type or is out of range.
    func value(_ key: Settings.Key) throws -> JSON? {
        guard let (given, source) = find(key) else { return nil }
        let kind = key.kind
        guard let value = kind.value(given) else {
            throw SettingsError("\(key.rawValue), set by \(source.name), must be \(kind.description).")
        }
        guard kind.contains(value) else {
            throw SettingsError("\(key.rawValue) is \(value.written); it must be \(kind.description).")
        }
        if case .path = kind { return .string(try Self.expanded(value.stringValue ?? "", key.rawValue)) }
        return value
    }

    /// The path that a setting names: every path of a setting passes here.
    static func expanded(_ path: String, _ setting: String) throws -> String {
        guard let expanded = path.expandingHome() else {
            throw SettingsError(
                "\(setting) is '\(path)', and fetchd knows only the home folder of its own user (~/). Write the path in full, or ./\(path) for a name that begins with ~."
            )
        }
        // Earlier versions took `~` for the name of a folder. Without its files, they would seem to be lost.
        guard expanded == path || !FileManager.default.fileExists(atPath: path) else {
            throw SettingsError(
                "\(setting) is '\(path)', and means \(expanded). But the working directory has a folder with the name ~, in which earlier versions put it. Move the files to \(expanded), or set \(setting) to ./\(path)."
            )
        }
        return expanded
    }

    func string(_ key: Settings.Key) throws -> String? { try value(key)?.stringValue }

    func path(_ key: Settings.Key) throws -> String? {
        let path = try string(key)
        if let path { try key.kind.verify(.string(path), of: key) }
        return path
    }

    func int(_ key: Settings.Key) throws -> Int? { try value(key)?.integerValue.map(Int.init) }

    func seconds(_ key: Settings.Key) throws -> Double? { try value(key)?.numberValue }

    func bool(_ key: Settings.Key) throws -> Bool? { try value(key)?.boolValue }

    /// - Returns: an empty list if no source has the setting.
    func strings(_ key: Settings.Key) throws -> [String] {
        (try value(key)?.arrayValue ?? []).compactMap(\.stringValue)
    }
}

// MARK: - Types

extension Settings.Key.Kind {
    /// As the end of a sentence: `a string`.
    var description: String {
        switch self {
        case .text, .path: "a string"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .bytes(let range): "a number of bytes such as 500000, 500K or 2Gi, from 0 to \(range.upperBound)"
        case .seconds:
            "a time such as 90, 90s, 15m, 8h or 30d, at most \(Int(SettingName.durations.upperBound)) seconds"
        case .flag: "true or false"
        case .texts: "a list of strings"
        }
    }

    /// Checks more than the type and the range.
    ///
    /// - Parameter value: of the type.
    func verify(_ value: JSON, of key: Settings.Key) throws {
        switch self {
        case .text(let verify): try verify(value.stringValue ?? "")
        case .texts(_, let verify): try verify((value.arrayValue ?? []).compactMap(\.stringValue))
        case .path where value == "": throw SettingsError("\(key.rawValue) is empty; it takes a path.")
        case .path, .flag: break
        case .integer, .bytes, .seconds:
            if let name = key.running { try RunningSettings.check(value, of: name) }
        }
    }

    fileprivate func contains(_ value: JSON) -> Bool {
        switch self {
        case .integer(let range), .bytes(let range): value.integerValue.map { range.contains(Int($0)) } ?? false
        case .seconds: value.numberValue.map { SettingName.durations.contains($0) } ?? false
        case .text, .path, .flag, .texts: true
        }
    }

    /// - Returns: nil if the value has another type.
    fileprivate func value(_ given: SettingsSources.Given) -> JSON? {
        switch given {
        case .value(let value): typed(value)
        case .text(let text): parsed(text)
        }
    }

    private func typed(_ value: JSON) -> JSON? {
        switch (self, value) {
        case (.text, .string), (.path, .string), (.integer, .integer), (.bytes, .integer), (.flag, .bool): value
        case (.seconds, .integer), (.seconds, .number): value
        case (.bytes, .string(let text)), (.seconds, .string(let text)): parsed(text)
        case (.texts, .array(let elements)): Self.strings(elements)
        case (.text, _), (.path, _), (.integer, _), (.bytes, _), (.seconds, _), (.flag, _), (.texts, _): nil
        }
    }

    private func parsed(_ text: String) -> JSON? {
        switch self {
        case .text, .path: .string(text)
        case .integer: Int64(text).map(JSON.integer)
        case .bytes: Quantity.bytes(text).map(JSON.integer)
        case .seconds: Quantity.seconds(text).map(JSON.number)
        case .flag: Self.flag(text).map(JSON.bool)
        case .texts(let separator, _):
            Self.strings(text.split(separator: separator).map { .string($0.trimmingCharacters(in: .whitespaces)) })
        }
    }

    private static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: nil
        }
    }

    /// Without empty strings. nil if an element is neither a string nor a number.
    private static func strings(_ elements: [JSON]) -> JSON? {
        let texts = elements.compactMap { $0.stringValue ?? ($0.numberValue == nil ? nil : $0.written) }
        return texts.count == elements.count ? .strings(texts.filter { !$0.isEmpty }) : nil
    }
}
