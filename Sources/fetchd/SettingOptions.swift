import ArgumentParser
import Client
import Configuration
import Formats

/// The options of `fetchd serve`, as given: one for every setting but the token. Their names, help and defaults are those of
/// the table of settings. `ServiceSettings` combines them with the environment and the file.
///
/// The parser finds options by reflection: it reads the property wrappers from the mirror of an empty value, and later asks for
/// their values by the same names. They are one group, because the debug build of the parser checks the options of a nested
/// group dozens of times at each start.
struct ServeOptions: ParsableArguments, CustomReflectable {
    let config: String?
    /// Only the options that were given.
    let flags: [SettingName: JSON]

    init() {
        config = nil
        flags = [:]
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: SettingKey.self)
        config = try values.decode(Option<String?>.self, forKey: Self.configKey).wrappedValue
        flags = try Setting.options.given(in: values)
    }

    var customMirror: Mirror {
        let help = ArgumentHelp(
            "A configuration file (JSON) with any of these settings. (default: none)", valueName: "file")
        let file: Mirror.Child = (label: Self.configKey.stringValue, value: Option<String?>(help: help))
        return Mirror(self, children: [file] + Self.declarations)
    }

    private static let configKey = SettingKey(stringValue: "config")
    nonisolated(unsafe) private static let declarations = Setting.options.map(\.declaration)
}

/// The options of other commands that say where the key comes from.
struct KeyOptions: ParsableArguments, CustomReflectable {
    let flags: [SettingName: JSON]

    init() { flags = [:] }

    init(from decoder: any Decoder) throws {
        flags = try Self.settings.given(in: decoder.container(keyedBy: SettingKey.self))
    }

    var customMirror: Mirror { Mirror(self, children: Self.declarations) }

    private static let settings = Setting.options.filter { [.keyFile, .keyCommand].contains($0.name) }
    nonisolated(unsafe) private static let declarations = settings.map(\.declaration)
}

private struct SettingKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Setting {
    fileprivate var declaration: Mirror.Child { (label: name.rawValue, value: wrapper) }

    private var wrapper: Any {
        let name = NameSpecification.customLong(optionName)
        let help = ArgumentHelp("\(meaning) (default: \(defaultText))", valueName: valueName)
        return switch kind {
        case .flag: Flag(wrappedValue: false, name: name, help: help)
        case .integer: Option<Int?>(name: name, help: help)
        case .texts(_, isRepeated: true), .rules:
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
        case .texts(_, isRepeated: true), .rules:
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

extension [Setting] {
    fileprivate func given(in values: KeyedDecodingContainer<SettingKey>) throws -> [SettingName: JSON] {
        try reduce(into: [:]) { $0[$1.name] = try $1.given(in: values) }
    }
}
