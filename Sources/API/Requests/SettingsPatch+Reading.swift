import Configuration
import Formats

/// Reads a change of settings from the request of a client.
extension SettingsPatch {
    /// - Throws: 403 if only administrators may change one of the settings.
    init(reading reader: inout FieldReader, of caller: Caller) throws(Problem) {
        var values: [(name: SettingName, value: JSON?)] = []
        for member in reader.object.members {
            guard let name = SettingName(rawValue: member.name) else { continue }
            if name.isAdministrative {
                do throws(Problem) {
                    try caller.require(.admin, of: .service)
                } catch {
                    var problem = error
                    problem.pointer = reader.pointer(to: member.name)
                    throw problem
                }
            }
            values.append((name, reader.value(member.name)))
        }
        do throws(SettingFault) {
            try self.init(values)
        } catch {
            throw reader.invalid(error.name.rawValue, error.why)
        }
    }
}
