import CurlClient

extension Network {
    /// From a setting.
    init(reading text: String) throws {
        guard let network = Network(text) else {
            throw SettingsError("allow_network holds '\(text)'; it takes networks such as 10.0.0.0/8 or fd00::/8.")
        }
        self = network
    }
}
