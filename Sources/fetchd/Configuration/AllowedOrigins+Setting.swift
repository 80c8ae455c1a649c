import API

extension AllowedOrigins {
    /// - Parameter texts: the values of the setting: `*`, or origins.
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
                "allow_origin contains 'null', which is the origin of every page opened from a file. Serve the page from a web server, for example with python3 -m http.server 9000, and allow its origin: http://localhost:9000."
            )
        }
        throw SettingsError(
            "allow_origin contains '\(text)'; it takes origins (scheme, host and port, without a path), such as https://downloads.example or http://localhost:9000, or * for any origin."
        )
    }
}
