import Foundation

/// The address at which other nodes reach this one: the start of the URLs of its API.
struct NodeAddress: Sendable, Equatable {
    /// Without a slash at the end.
    let url: String
    /// Without a port; an IPv6 address is in brackets.
    let host: String

    /// - Throws: `SettingsError`.
    init(_ text: String) throws {
        // Foundation would encode other characters, such as a space at the end.
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let components = URLComponents(string: text),
            ["http", "https"].contains(components.scheme?.lowercased()),
            let host = components.encodedHost, !host.isEmpty, components.user == nil, components.password == nil,
            components.query == nil, components.fragment == nil
        else {
            throw SettingsError(
                "node_url is '\(text)'; it must be an http or https address without user, query, fragment and spaces, such as http://10.0.0.7:8080."
            )
        }
        url = text.hasSuffix("/") ? String(text.dropLast()) : text
        self.host = host
    }
}
