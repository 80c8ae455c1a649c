import Formats
import Foundation
import Testing

@testable import Downloads

@Suite struct HostRuleTests {
    private func rules(_ hosts: [String]) throws -> HostRules {
        HostRules(try hosts.map { try HostRule(["host": .string($0), "connections": 1]) })
    }

    @Test func mostSpecificHostDecides() throws {
        let rules = try rules([
            "*", "*:8080", "*.example.com", "*.b.example.com", "b.example.com", "b.example.com:8443", "10.0.0.1",
            "[::1]:80",
        ])
        for (host, expected) in [
            ("other:443", "*"), ("other:8080", "*:8080"), ("a.example.com:443", "*.example.com"),
            ("a.b.example.com:443", "*.b.example.com"), ("b.example.com:443", "b.example.com"),
            ("b.example.com:8443", "b.example.com:8443"), ("example.com:443", "*"), ("10.0.0.1:80", "10.0.0.1"),
            ("[::1]:80", "[::1]:80"), ("[::1]:81", "*"),
        ] { #expect(rules[host]?.hosts.description == expected, "\(host)") }
        #expect(HostRules()["other:443"] == nil)
    }

    @Test func firstOfEqualRulesDecides() throws {
        let rules = HostRules([
            try HostRule(["host": "a", "connections": 1]), try HostRule(["host": "a", "connections": 2]),
        ])
        #expect(rules["a:443"]?.connections == 1)
    }

    @Test func readsAndWritesDocuments() throws {
        let document: JSON = [
            "host": "*.example.com", "requests_per_second": 2.5, "connections": 2, "pause_statuses": [403, 503],
            "rate_limit_bytes_per_second": 1000,
        ]
        let rule = try HostRule(document)
        #expect(rule.json == document)
        #expect(rule.requestsPerSecond == 2.5 && rule.pauseStatuses == [403, 503] && rule.rateLimit == 1000)
        // The stored form.
        let stored = try JSONDecoder().decode(HostRules.self, from: JSONEncoder().encode(HostRules([rule])))
        #expect(stored == HostRules([rule]))
        let text =
            "*.example.com requests_per_second=2.5 connections=2 pause_statuses=403,503 rate_limit_bytes_per_second=1K"
        #expect(try HostRule(HostRule.document(text)) == rule)
    }

    @Test(
        arguments: [
            ("[]", nil, "must be an object"), ("{}", "host", "is missing"), (#"{"host": "a"}"#, nil, "limits nothing"),
            (#"{"host": "a", "connections": 0}"#, "connections", "must be a whole number from 1 to 10000"),
            (#"{"host": "a", "connections": 1.5}"#, "connections", "must be a whole number from 1 to 10000"),
            (
                #"{"host": "a", "requests_per_second": 0}"#, "requests_per_second",
                "must be a number from 0.001 to 10000"
            ),
            (
                #"{"host": "a", "pause_statuses": [200]}"#, "pause_statuses",
                "must be a list of at most 20 statuses from 400 to 599"
            ),
            (
                #"{"host": "a", "pause_statuses": "403"}"#, "pause_statuses",
                "must be a list of at most 20 statuses from 400 to 599"
            ),
            (#"{"host": "a", "rps": 3}"#, "rps", "is not a member of a rule"),
        ] as [(String, String?, String)]) func refusesRules(_ text: String, _ member: String?, _ why: String) throws
    {
        let document = try JSON(parsing: Array(text.utf8))
        let fault = #expect(throws: HostRuleFault.self) { try HostRule(document) }
        #expect(fault?.member == member && fault?.why == why)
    }

    @Test(arguments: ["", "a b", "*.", "*a", "a:0", "a:70000", "a:b", "*.*.x", "http://a", "::1:80]"])
    func refusesHosts(_ text: String) { #expect(HostSelector(text) == nil) }
}
