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
        if text == WebOrigin.shared.description { return .shared }
        if let origin = WebOrigin(text) { return origin }
        throw SettingsError(
            "allow_origin contains '\(text)'; it takes origins (scheme, host and port, without a path), such as https://downloads.example or http://localhost:9000, or * for any origin."
        )
    }
}
