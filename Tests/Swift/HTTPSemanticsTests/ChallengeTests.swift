import Testing

@testable import HTTPSemantics

/// Challenges in every notation that RFC 9110 permits, and in some others.
@Suite struct ChallengeTests {
    @Test(arguments: [
        ("Basic realm=\"the files\"", "basic", "the files"),
        ("Basic realm=\"\"", "basic", ""),
        ("Basic realm=\"a \\\"quoted\\\" \\\\ word\"", "basic", "a \"quoted\" \\ word"),
        ("Basic realm=\"one, two\", charset=\"UTF-8\"", "basic", "one, two"),
        ("Bearer realm=example", "bearer", "example"),
        ("Bearer realm=example, error=\"invalid_token\"", "bearer", "example"),
        ("Bearer realm=example,error=\"invalid_token\"", "bearer", "example"),
        ("Digest qop=\"auth\", nonce=\"ab==\", realm=\"r\"", "digest", "r"),
        ("BASIC REALM=\"Files\"", "basic", "Files"),
        ("bAsIc ReAlM=Files", "basic", "Files"),
        ("Basic  realm = \"spaced\"", "basic", "spaced"),
        ("Digest nonce=\"n\" , realm\t=\tspaced", "digest", "spaced"),
        (" , Basic realm=\"after an empty element\"", "basic", "after an empty element"),
        ("Basic realm=\"without an end", "basic", "without an end"),
    ])
    func readsSchemeAndRealm(_ header: String, _ scheme: String, _ realm: String) {
        #expect(Challenge.all(in: header).first == Challenge(scheme: scheme, realm: realm))
    }

    @Test(arguments: [
        ("Negotiate", "negotiate"), ("NTLM ", "ntlm"), ("Bearer error=\"invalid_token\"", "bearer"),
        ("Negotiate YIIabc==", "negotiate"), ("Basic xrealm=\"another\"", "basic"),
        ("Basic title=\"realm=no\"", "basic"), ("Basic realm", "basic"),
    ])
    func acceptsMissingRealm(_ header: String, _ scheme: String) {
        #expect(Challenge.all(in: header).first == Challenge(scheme: scheme, realm: nil))
    }

    /// Each challenge has its own realm: another's would ask for the wrong credentials.
    @Test(
        arguments: [
            ("Basic realm=\"first\", Digest realm=\"second\"", "basic", "first"),
            ("Digest realm=first, nonce=\"n\", Basic realm=\"second\"", "digest", "first"),
            ("Negotiate, Basic realm=\"second\"", "negotiate", nil),
            ("Negotiate YIIabc==, Basic realm=\"second\"", "negotiate", nil),
            ("Bearer error=\"invalid_token\", Basic realm=\"second\"", "bearer", nil),
            ("Bearer scope=\"a,b\",Basic realm=\"second\"", "bearer", nil),
            ("NTLM, Negotiate, Basic realm=\"third\"", "ntlm", nil),
        ] as [(String, String, String?)])
    func takesFirstOfSeveralChallenges(_ header: String, _ scheme: String, _ realm: String?) {
        #expect(Challenge.all(in: header).first == Challenge(scheme: scheme, realm: realm))
    }

    @Test(arguments: ["", "   ", ",", " , ,", "=", "realm=\"x\"", "realm = \"x\"", "realm=\"x\", Basic", "\"Basic\""])
    func findsNoChallengeWithoutScheme(_ header: String) {
        #expect(Challenge.all(in: header).first == nil)
    }

    @Test func readsEveryChallengeAndAlgorithm() {
        let header = #"Negotiate, Digest realm="a, b", algorithm=SHA-256, nonce="n", Basic realm=c, , NTLM abc=="#
        #expect(
            Challenge.all(in: header) == [
                Challenge(scheme: "negotiate", realm: nil),
                Challenge(scheme: "digest", realm: "a, b", algorithm: "SHA-256"),
                Challenge(scheme: "basic", realm: "c"), Challenge(scheme: "ntlm", realm: nil),
            ])
    }
}
