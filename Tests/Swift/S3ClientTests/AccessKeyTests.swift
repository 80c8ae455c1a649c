import Testing

@testable import S3Client

@Suite struct AccessKeyTests {
    @Test func theEnvironmentHasAKey() throws {
        let variables = ["AWS_ACCESS_KEY_ID": "i", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t"]
        #expect(try AccessKey(environment: variables) == AccessKey(id: "i", secret: "s", sessionToken: "t"))
        #expect(try AccessKey(environment: ["AWS_SESSION_TOKEN": "t"]) == nil)
        #expect(try AccessKey(environment: ["AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""]) == nil)
        #expect(throws: AccessKey.Fault.self) { try AccessKey(environment: ["AWS_ACCESS_KEY_ID": "i"]) }
        #expect(throws: AccessKey.Fault.self) {
            try AccessKey(environment: ["AWS_SECRET_ACCESS_KEY": "s", "AWS_ACCESS_KEY_ID": ""])
        }
    }

    @Test(arguments: [
        "[default]\naws_access_key_id = i\naws_secret_access_key=s=/+\n",
        "# of the backup\r\n[ default ]\r\n AWS_ACCESS_KEY_ID=i\r\n aws_secret_access_key =  s=/+ \r\nregion = x\r\n",
        "[other]\naws_access_key_id=x\naws_secret_access_key=y\n;\n[default]\naws_access_key_id=i\naws_secret_access_key=s=/+",
        "[backup]\naws_access_key_id=i\naws_secret_access_key=s=/+\naws_session_token=",
    ])
    func aFileHasAKey(_ text: String) throws {
        #expect(try AccessKey(file: text) == AccessKey(id: "i", secret: "s=/+"))
    }

    @Test(arguments: [
        ("", "It has no section, such as [default]."),
        ("[a]\n[b]\n", "It has several sections, and none is [default]."),
        ("[default]\naws_access_key_id=i\n", "It has no aws_access_key_id, or no aws_secret_access_key."),
        (
            "aws_access_key_id=secret\n",
            "Its line 1 is neither a section, such as [default], nor a setting in one."
        ),
        ("[default]\n\nsecret\n", "Its line 3 is neither a section, such as [default], nor a setting in one."),
    ])
    func aFileWithoutAKeyIsRefused(_ text: String, _ why: String) {
        #expect(throws: AccessKey.Fault(why: why)) { try AccessKey(file: text) }
    }

    @Test func noDescriptionShowsIt() {
        let key = AccessKey(id: "AKIA", secret: "hidden", sessionToken: "also")
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), String(describing: Optional(key)), dumped] {
            #expect(!text.contains("AKIA") && !text.contains("hidden") && !text.contains("also"), "\(text)")
        }
    }
}
