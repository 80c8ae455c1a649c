import CurlClient

/// A network in CIDR notation (RFC 4632): an address and how many of its leading bits count.
struct Network: Sendable, Hashable {
    let address: IPAddress
    let prefixLength: Int

    init(reading text: String) throws {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let address = IPAddress(String(halves[0])) else { throw Self.fault(text) }
        let bits = address.bytes.count * 8
        guard halves.count <= 2, let length = halves.count == 2 ? Int(halves[1]) : bits, (0...bits).contains(length)
        else {
            throw Self.fault(text)
        }
        self.address = address
        prefixLength = length
    }

    private static func fault(_ text: String) -> SettingsError {
        SettingsError("allow_network holds '\(text)'; it takes networks such as 10.0.0.0/8 or fd00::/8.")
    }
}
