import CurlClient
import Formats
import Testing

/// Denied networks take precedence over everything else.
@Suite struct DeniedNetworkTests {
    private func policy(
        _ base: AddressPolicy.Base = .publicAddresses, allowing: [String] = [], denying: [String]
    ) throws -> AddressPolicy {
        AddressPolicy(
            admitting: base, allowing: try allowing.map { try #require(Network($0)) },
            denying: try denying.map { try #require(Network($0)) })
    }

    private func admits(_ policy: AddressPolicy, _ text: String) throws -> Bool {
        policy.admits(try #require(IPAddress(text), "\(text)"))
    }

    @Test func refusesPublicAddressesOfADeniedNetwork() throws {
        let policy = try policy(denying: ["8.8.8.0/24", "2001:4860::/32"])
        for text in ["8.8.8.0", "8.8.8.8", "8.8.8.255", "2001:4860::", "2001:4860:ffff::1"] {
            #expect(try !admits(policy, text), "\(text)")
        }
        for text in ["8.8.7.255", "8.8.9.0", "2001:4861::1", "2001:485f:ffff::1"] {
            #expect(try admits(policy, text), "\(text)")
        }
    }

    @Test func refusesADeniedPartOfAnAllowedNetwork() throws {
        let policy = try policy(allowing: ["10.0.0.0/8", "fd00::/8"], denying: ["10.1.0.0/16", "fd00:1::/32"])
        for text in ["10.0.255.255", "10.2.0.0", "fd00::1", "fd00:2::1"] {
            #expect(try admits(policy, text), "\(text)")
        }
        for text in ["10.1.0.0", "10.1.255.255", "fd00:1::", "fd00:1:ffff::"] {
            #expect(try !admits(policy, text), "\(text)")
        }
        // An equal network is denied.
        let equal = try self.policy(allowing: ["10.0.0.0/8"], denying: ["10.0.0.0/8"])
        #expect(try !admits(equal, "10.0.0.1"))
    }

    @Test func refusesEveryAddressThatLeadsToADeniedNetwork() throws {
        let policy = try policy(.allAddresses, denying: ["10.0.0.0/8"])
        for text in [
            "10.0.0.1", "::ffff:10.0.0.1", "::10.0.0.1", "64:ff9b::10.0.0.1", "2002:a00:1::1", "64:ff9b:1::10.0.0.1",
            // The same address after prefixes of 48, 56 and 64 bits.
            "64:ff9b:1:a00:0:100::", "64:ff9b:1:a:0:1::", "64:ff9b:1:0:a:0:100:0",
            // Teredo: the address of the server, and that of the client.
            "2001:0:a00:1::", "2001:0:808:808:0:0:f5ff:fffe",
            "2a00:1450::5efe:10.0.0.1", "fe80::200:5efe:10.0.0.1",
        ] {
            #expect(try !admits(policy, text), "\(text)")
        }
        for text in ["11.0.0.1", "::ffff:9.255.255.255", "64:ff9b::11.0.0.1", "2002:b00:1::1", "2a00:1450::a00:1"] {
            #expect(try admits(policy, text), "\(text)")
        }
    }

    @Test func admitsEverythingElseForTheWebhooksOfAdministrators() throws {
        let policy = try policy(.allAddresses, denying: [])
        for text in InternalAddresses.all + ["8.8.8.8", "2a00:1450::1"] { #expect(try admits(policy, text), "\(text)") }
    }
}
