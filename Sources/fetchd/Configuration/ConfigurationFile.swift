import Formats
import Foundation

/// The text of a configuration file.
struct ConfigurationFile {
    let path: String
    let bytes: [UInt8]

    /// - Throws: `SettingsError` if the file cannot be read.
    init(_ path: String) throws {
        self.path = path
        do {
            bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw SettingsError("The configuration file \(path) cannot be read: \(Self.reason(error)).")
        }
    }

    /// - Throws: `SettingsError` if the text is no JSON object.
    func members() throws -> JSONObject {
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

    /// That of the system, such as `No such file or directory`.
    private static func reason(_ error: any Error) -> String {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        guard let underlying, underlying.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
        return String(cString: strerror(Int32(underlying.code)))
    }
}
