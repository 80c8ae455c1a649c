import CurlClient
import Formats

extension HostPattern {
    /// - Parameter text: a value of the setting `key`. An international name is converted to ASCII, as in URLs.
    init(reading text: String, of key: Settings.Key) throws {
        let wildcard = text.hasPrefix("*.") ? "*." : ""
        guard let pattern = HostPattern(wildcard + Self.ascii(String(text.dropFirst(wildcard.count)))) else {
            throw SettingsError(
                "\(key.rawValue) contains '\(text)'; it takes host names such as files.example.com, *.example.com for all names below a name, and addresses."
            )
        }
        self = pattern
    }

    private static func ascii(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 >= 0x80 }) else { return name }
        let scheme = "http://"
        return (scheme + name).withASCIIHost.map { String($0.dropFirst(scheme.count)) } ?? name
    }
}
