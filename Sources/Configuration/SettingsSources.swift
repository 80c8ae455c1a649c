import Formats
import Foundation
import Glibc

/// A setting has an invalid value, or the configuration file cannot be used.
public struct SettingsError: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}

/// The sources of the settings, in order of precedence: options, the environment, the file of `--config`.
public struct SettingsSources {
    private struct Source {
        var name: String
        var kind: SettingSource
        /// nil: the source has no value. It is nil itself if it has another type than the setting.
        var look: (Setting) -> JSON??
    }

    private let sources: [Source]
    public let unknownVariables: UnknownVariables
    let file: String?

    /// - Throws: if the configuration file cannot be read, or has a member that is no setting.
    public init(
        flags: [SettingName: JSON], configFile: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(SettingsError) {
        var sources = [
            Source(name: "an option", kind: .flag) { flags[$0.name].map($0.kind.typed) },
            Source(name: "the environment", kind: .environment) { environment[$0.environmentName].map($0.kind.parsed) },
        ]
        unknownVariables = UnknownVariables(
            in: environment, besides: Setting.all.map(\.environmentName) + [Self.fileVariable])
        file = try Self.path(configFile ?? environment[Self.fileVariable])
        if let file { sources.append(Self.source(try Self.read(file), in: file)) }
        self.sources = sources
    }

    init(of members: JSONObject, in path: String) {
        file = path
        unknownVariables = UnknownVariables(in: [:], besides: [])
        sources = [Self.source(members, in: path)]
    }

    private static func source(_ members: JSONObject, in path: String) -> Source {
        Source(name: path, kind: .file) { members[$0.name.rawValue].map($0.kind.typed) }
    }

    private static let fileVariable = "FETCHD_CONFIG"

    private static func path(_ file: String?) throws(SettingsError) -> String? {
        guard let file else { return nil }
        return try expanded(file, "config")
    }

    private static func read(_ path: String) throws(SettingsError) -> JSONObject {
        let members = try ConfigurationFile(path).members()
        if let unknown = members.names.first(where: { Setting[SettingName(rawValue: $0)] == nil }) {
            throw try ConfigurationCheck(of: path).completing(ConfigurationCheck.unknown(unknown))
        }
        return members
    }

    private func find(_ setting: Setting) -> (given: JSON?, source: Source)? {
        for source in sources {
            if let given = source.look(setting) { return (given, source) }
        }
        return nil
    }

    public func source(of setting: Setting) -> SettingSource { find(setting)?.source.kind ?? .default }

    /// The value of the strongest source that has one, of the type of the setting. nil if no source has one.
    public func value(_ setting: Setting) throws(SettingsError) -> JSON? {
        guard let (given, source) = find(setting) else { return nil }
        let (name, kind) = (setting.name.rawValue, setting.kind)
        guard let value = given else {
            throw SettingsError("\(name), set by \(source.name), must be \(kind.description).")
        }
        guard kind.contains(value) else {
            throw SettingsError("\(name) is \(value.written); it must be \(kind.description).")
        }
        if case .path = kind { return .string(try Self.expanded(value.stringValue ?? "", name)) }
        return value
    }

    /// The values of some settings; nil: of all. The others have their defaults.
    public func settings(only names: Set<SettingName>? = nil) throws(SettingsError) -> Settings {
        var (settings, given) = (Settings(), [(setting: Setting, value: JSON)]())
        for setting in Setting.all where names?.contains(setting.name) ?? true {
            if let value = try value(setting) { given.append((setting, value)) }
        }
        for (setting, value) in given { try setting.take(value, in: &settings) }
        try settings.checkCombinations()
        return settings
    }

    /// The path that a setting names: every path of a setting passes here.
    public static func expanded(_ path: String, _ setting: String) throws(SettingsError) -> String {
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
}

extension Setting {
    fileprivate func take(_ value: JSON, in settings: inout Settings) throws(SettingsError) {
        do throws(SettingFault) {
            try set(value, in: &settings)
        } catch {
            throw SettingsError(error.description)
        }
    }
}

private struct ConfigurationFile {
    let path: String
    let bytes: [UInt8]

    init(_ path: String) throws(SettingsError) {
        self.path = path
        do throws(Errno) {
            bytes = try Self.contents(of: path)
        } catch {
            throw SettingsError("The configuration file \(path) cannot be read: \(error.description).")
        }
    }

    private static func contents(of path: String) throws(Errno) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Errno(code: errno) }
        defer { close(descriptor) }
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count > 0 { bytes += buffer[..<count] } else if errno != EINTR { throw Errno(code: errno) }
        }
    }

    /// An error of the system, such as `No such file or directory`.
    private struct Errno: Error, CustomStringConvertible {
        let code: Int32
        var description: String { String(cString: strerror(code)) }
    }

    func members() throws(SettingsError) -> JSONObject {
        let value: JSON
        do throws(JSONFault) {
            value = try JSON(parsing: bytes)
        } catch {
            throw SettingsError(
                "The configuration file \(path) has a mistake in line \(line(of: error.offset)): \(error.reason). To list all mistakes, run: fetchd config check \(path)"
            )
        }
        guard case .object(let members) = value else {
            throw SettingsError("\(path) must hold a JSON object with the settings of fetchd.")
        }
        return members
    }

    /// The number of the line with this byte, from 1.
    func line(of position: Int) -> Int { bytes.prefix(position).count { $0 == UInt8(ascii: "\n") } + 1 }
}

public struct ConfigurationCheck {
    public struct Mistake {
        /// The first line has the number 1. nil: the mistake is in no single place.
        public var line: Int?
        public var text: String
    }

    private let path: String
    public let mistakes: [Mistake]

    public init(of path: String) throws(SettingsError) {
        self.path = path
        let file = try ConfigurationFile(path)
        do throws(JSONFault) {
            let positions = try JSON.memberPositions(in: file.bytes)
            mistakes = Self.mistakes(of: try JSON(parsing: file.bytes), path) { name in
                positions[name].map(file.line)
            }
        } catch {
            mistakes = [Mistake(line: file.line(of: error.offset), text: "\(error.reason).")]
        }
    }

    /// The error for all mistakes of the file, if it is for one of them.
    func completing(_ error: SettingsError) -> SettingsError {
        // What depends on several settings also depends on the other sources.
        let placed = mistakes.filter { $0.line != nil }
        guard placed.contains(where: { $0.text == error.description }) else { return error }
        let lines = placed.map { "\n\(path):\($0.line.map(String.init) ?? ""): \($0.text)" }
        let count = placed.count == 1 ? "a mistake" : "\(placed.count) mistakes"
        return SettingsError("The configuration file has \(count).\(lines.joined())")
    }

    /// The error for a member that is no setting.
    fileprivate static func unknown(_ name: String) -> SettingsError {
        SettingsError("'\(name)' is not a setting of fetchd.")
    }

    private static func mistakes(of value: JSON, _ path: String, _ line: (String) -> Int?) -> [Mistake] {
        guard case .object(let members) = value else {
            return [Mistake(line: 1, text: "The file must hold a JSON object with the settings of fetchd.")]
        }
        let sources = SettingsSources(of: members, in: path)
        var (found, settings) = ([Mistake](), Settings())
        for name in members.names {
            do throws(SettingsError) {
                guard let setting = Setting[SettingName(rawValue: name)] else { throw unknown(name) }
                if let value = try sources.value(setting) { try setting.take(value, in: &settings) }
            } catch {
                found.append(Mistake(line: line(name), text: error.description))
            }
        }
        guard found.isEmpty else { return found }
        // Settings that depend on each other are only compared if each is valid by itself.
        do throws(SettingsError) {
            try settings.checkCombinations()
            return []
        } catch {
            return [Mistake(line: nil, text: error.description)]
        }
    }
}

/// Environment variables that look like misspelled settings. The service would ignore them without a word.
///
/// A variable that resembles no setting is not one of them: other programs name variables in the same way. Kubernetes makes
/// some for each service that is called `fetchd`, and programs that use fetchd have their own.
public struct UnknownVariables: Sendable, Equatable {
    public struct Variable: Sendable, Equatable {
        public var name: String
        /// The variable of a setting that resembles it most.
        public var nearest: String
    }

    public let variables: [Variable]

    /// - Parameter settings: the variables of all settings, such as `FETCHD_LISTEN`.
    public init(in environment: [String: String], besides settings: [String]) {
        let known = Set(settings).union(Self.foreign)
        variables = environment.keys.sorted().compactMap { name in
            guard name.hasPrefix(Self.prefix), !known.contains(name),
                !Self.isMadeByKubernetes(name, environment[name] ?? ""),
                let nearest = Self.nearest(to: name, among: settings)
            else { return nil }
            return Variable(name: name, nearest: nearest)
        }
    }

    public var warning: String? {
        guard let first = variables.first else { return nil }
        guard variables.count > 1 else {
            return
                "The environment variable \(first.name) is no setting of fetchd and has no effect. Did you mean \(first.nearest)?"
        }
        let names = variables.map { "\($0.name) (did you mean \($0.nearest)?)" }.joined(separator: ", ")
        return "These environment variables are no settings of fetchd and have no effect: \(names)."
    }

    private static let prefix = "FETCHD_"

    /// Variables of the client commands, and of the programs that fetchd starts for events.
    private static let foreign: Set = ["FETCHD_URL", "FETCHD_CA_FILE", "FETCHD_EVENT", "FETCHD_PATH"]

    /// The variables of a service `fetchd` or `fetchd-web`: `FETCHD_SERVICE_HOST`, `FETCHD_PORT=tcp://10.0.0.1:8080`,
    /// `FETCHD_PORT_8080_TCP_ADDR`.
    private static func isMadeByKubernetes(_ name: String, _ value: String) -> Bool {
        let words = name.split(separator: "_").map(String.init)
        if name.hasPrefix("FETCHD_PORT") || name.hasPrefix("FETCHD_SERVICE_") { return true }
        if words.last == "PORT", value.contains("://") { return true }
        return zip(words, words.dropFirst()).contains { first, second in
            first == "SERVICE" && ["HOST", "PORT"].contains(second) || first == "PORT" && Int(second) != nil
        }
    }

    private static func nearest(to name: String, among settings: [String]) -> String? {
        let text = String(name.dropFirst(prefix.count))
        let words = Set(text.split(separator: "_"))
        let close = settings.map { (name: $0, distance: distance(text, String($0.dropFirst(prefix.count)))) }
            .filter { $0.distance <= max(1, text.utf8.count / 4) }
            .min { $0.distance < $1.distance }
        if let close { return close.name }
        // FETCHD_MAX_JOBS for FETCHD_MAX_CONCURRENT_JOBS. A single word says too little.
        guard words.count > 1 else { return nil }
        return settings.filter { words.isSubset(of: $0.dropFirst(prefix.count).split(separator: "_")) }
            .min { $0.utf8.count < $1.utf8.count }
    }

    /// The number of bytes to insert, remove, replace or swap with their neighbours.
    private static func distance(_ first: String, _ second: String) -> Int {
        let (first, second) = (Array(first.utf8), Array(second.utf8))
        var rows = [Array(0...second.count)]
        for (i, byte) in first.enumerated() {
            var row = [i + 1]
            for (j, other) in second.enumerated() {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (byte == other ? 0 : 1))
                if i > 0, j > 0, byte == second[j - 1], first[i - 1] == other {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[first.count][second.count]
    }
}
