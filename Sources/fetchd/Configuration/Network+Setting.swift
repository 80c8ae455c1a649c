import CurlClient

extension Network {
    /// - Parameter text: a value of the setting `key`.
    init(reading text: String, of key: Settings.Key) throws {
        guard let network = Network(text) else {
            throw SettingsError(
                "\(key.rawValue) contains '\(text)'; it takes networks, such as 10.0.0.0/8 or fd00::/8.")
        }
        self = network
    }
}
