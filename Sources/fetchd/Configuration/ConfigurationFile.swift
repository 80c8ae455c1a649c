import Formats
import Glibc

/// The text of a configuration file.
struct ConfigurationFile {
    let path: String
    let bytes: [UInt8]

    /// - Throws: `SettingsError` if the file cannot be read.
    init(_ path: String) throws {
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
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count > 0 { bytes += buffer[..<count] } else if errno != EINTR { throw Errno(code: errno) }
        }
    }

    /// An error of the system, such as `No such file or directory`.
    private struct Errno: Error, CustomStringConvertible {
        let code: Int32
        var description: String { String(cString: strerror(code)) }
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
}
