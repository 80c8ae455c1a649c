import API

extension AllowedOrigins {
    /// From a setting: `*`, or origins as they are.
    init(reading texts: [String]) throws {
        guard !texts.contains("*") else {
            self = .any
            return
        }
        self = .only(Set(try texts.map(Self.origin)))
    }

    private static func origin(_ text: String) throws -> WebOrigin {
        if let origin = WebOrigin(text) { return origin }
        if text == "null" {
            throw SettingsError(
                "allow_origin holds 'null', which is what every page of a file says: put the page on a web server, such as python3 -m http.server 9000, and name that: http://localhost:9000."
            )
        }
        throw SettingsError(
            "allow_origin holds '\(text)'; it takes origins, that is scheme, host and port without a path, such as https://downloads.example or http://localhost:9000, or * for any."
        )
    }
}
