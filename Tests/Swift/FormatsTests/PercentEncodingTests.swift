import Formats
import Testing

@Suite struct PercentEncodingTests {
    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("a%2Fb", "a/b"), ("a%2fb", "a/b"), ("%25", "%"), ("%00", "\0"),
        ("na%C3%AFve", "naïve"), ("naïve%21", "naïve!"),
    ])
    func decodes(_ encoded: String, _ decoded: String) {
        #expect(encoded.percentDecoded == decoded)
        #expect(encoded[...].percentDecoded == decoded)
    }

    @Test(arguments: ["%", "%2", "a%", "%zz", "%2g", "%+1", "%%20", "%C3", "%FF", "%ED%A0%80"])
    func refusesMalformedEncoding(_ encoded: String) {
        #expect(encoded.percentDecoded == nil)
    }
}
