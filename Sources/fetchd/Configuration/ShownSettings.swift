import Configuration
import Daemon
import Formats
import Foundation
import Storage

/// All settings with the values that `fetchd serve` would use, and where each comes from. Secrets are not shown.
struct ShownSettings {
    struct Row {
        var key: Settings.Key
        var value: JSON
        var source: SettingSource
    }

    let rows: [Row]

    /// - Throws: `SettingsError` if a value is invalid; `StoreError` if the database cannot be read.
    init(_ sources: SettingsSources) throws {
        let settings = try Settings(sources)
        let stored =
            try settings.store.map { try Store.settings(in: $0) } ?? Store.settings(inDataFolder: settings.dataDir)
        rows = try Settings.Key.allCases.map { key in
            if let name = key.running {
                if let value = stored[key.rawValue], (try? RunningSettings.check(value, of: name)) != nil {
                    return Row(key: key, value: value, source: .api)
                }
                return Row(key: key, value: settings.start.values[name], source: sources.source(of: key))
            }
            let value = try sources.value(key) ?? Self.absent(key, settings)
            return Row(key: key, value: key.shown(value), source: sources.source(of: key))
        }
    }

    private static func absent(_ key: Settings.Key, _ settings: Settings) -> JSON {
        if key == .dataDir { return .string(settings.dataDir) }
        return key == .downloadsDir ? .string(settings.downloadsDir) : key.defaultValue
    }

    /// As `GET /v1/service` has them.
    var document: JSON {
        var (document, sources) = (JSONObject(), JSONObject())
        for row in rows {
            document[row.key.rawValue] = row.value
            sources[row.key.rawValue] = .string(row.source.rawValue)
        }
        document["sources"] = .object(sources)
        return .object(document)
    }

    /// Three columns: name, source, value.
    var lines: [String] {
        let width = rows.map(\.key.rawValue.count).max() ?? 0
        return rows.map { row in
            let name = row.key.rawValue.padding(toLength: width, withPad: " ", startingAt: 0)
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
