import Formats
import Foundation

/// The text of a configuration file, and its members.
struct ConfigurationFile {
    let path: String
    let bytes: [UInt8]
    let members: JSONObject

    /// - Throws: `SettingsError` if the file cannot be read, or is no JSON object.
    init(_ path: String) throws {
        self.path = path
        do {
            bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw SettingsError("The configuration file \(path) cannot be read: \(error.localizedDescription)")
        }
        let value: JSON
        do {
            value = try JSON(parsing: bytes)
        } catch {
            throw SettingsError("The configuration file \(path) cannot be read: \(error)")
        }
        guard case .object(let members) = value else {
            throw SettingsError("\(path) must hold a JSON object with the settings of fetchd.")
        }
        self.members = members
    }
}
