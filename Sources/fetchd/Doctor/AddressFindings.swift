import Configuration
import CurlClient

/// Where downloads may connect to.
struct AddressFindings {
    let policies: DestinationPolicies
    /// Whether the policies have the settings that clients have made.
    var areComplete = true

    /// Addresses that a download should rarely reach, and what is there.
    private static let delicate = [
        ("127.0.0.1", "programs on this machine, such as fetchd itself"),
        ("169.254.169.254", "the metadata of a cloud machine, often with credentials"),
    ]

    var all: [Finding] {
        let findings = Self.delicate.compactMap { text, place -> Finding? in
            guard let address = IPAddress(text), policies.downloads.admits(address) else { return nil }
            return .warning(
                .addresses, "Downloads may reach \(text): \(place).",
                "Narrow --allow-network, or add --deny-network \(text)/32.")
        }
        guard areComplete || !findings.isEmpty else {
            return [
                .skipped(
                    .addresses,
                    "By options, environment and file, downloads reach neither this machine nor the metadata of a cloud. The settings that clients have made cannot be read.",
                    "Make the database readable for this command.")
            ]
        }
        return findings.isEmpty
            ? [.ok(.addresses, "Downloads reach neither this machine nor the metadata of a cloud.")] : findings
    }
}
