import CurlClient

extension Network {
    /// - Parameter text: a value of the setting `allow_network`.
    init(reading text: String) throws {
        guard let network = Network(text) else {
            throw SettingsError("allow_network contains '\(text)'; it takes networks, such as 10.0.0.0/8 or fd00::/8.")
        }
        self = network
    }
}
