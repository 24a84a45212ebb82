// One task done by ARX, for peers.py: java -cp libarx.jar benchmarks/peer_arx.java FOLDER K LIMIT TIMES
// Reads adult.csv and hierarchy-NAME.csv (semicolons) of FOLDER; prints one line of JSON: CPU seconds of the process for the
// best of TIMES searches after one that warms up, the levels found in the order of the columns, the records suppressed,
// and the loss by ARX's own measure.

import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXLattice.ARXNode;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;
import org.deidentifier.arx.metric.Metric.AggregateFunction;

class PeerArx {

    static double cpu() {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return system.getProcessCpuTime() / 1e9;
    }

    static Data read(File folder, List<String> quasi) throws Exception {
        Data data = Data.create(new File(folder, "adult-arx.csv").getPath(), StandardCharsets.UTF_8, ';');
        DataHandle handle = data.getHandle();
        for (int column = 0; column < handle.getNumColumns(); column++) {
            String name = handle.getAttributeName(column);
            File tree = new File(folder, "hierarchy-" + name + ".csv");
            if (tree.exists()) {
                quasi.add(name);
                data.getDefinition().setAttributeType(
                    name, Hierarchy.create(tree.getPath(), StandardCharsets.UTF_8, ';'));
            } else {
                data.getDefinition().setAttributeType(name, AttributeType.INSENSITIVE_ATTRIBUTE);
            }
        }
        return data;
    }

    public static void main(String[] words) throws Exception {
        File folder = new File(words[0]);
        int times = Integer.parseInt(words[3]);
        double best = Double.POSITIVE_INFINITY;
        String found = "";
        for (int run = 0; run <= times; run++) {
            List<String> quasi = new ArrayList<>();
            Data data = read(folder, quasi);
            ARXConfiguration asked = ARXConfiguration.create();
            asked.addPrivacyModel(new KAnonymity(Integer.parseInt(words[1])));
            asked.setSuppressionLimit(Double.parseDouble(words[2]));
            asked.setQualityModel(Metric.createLossMetric(AggregateFunction.ARITHMETIC_MEAN));
            double started = cpu();
            ARXResult result = new ARXAnonymizer().anonymize(data, asked);
            double spent = cpu() - started;
            if (run > 0) {
                best = Math.min(best, spent);
            }
            ARXNode node = result.getGlobalOptimum();
            List<String> levels = new ArrayList<>();
            for (String name : quasi) {
                levels.add(String.valueOf(node.getGeneralization(name)));
            }
            DataHandle output = result.getOutput(node, false);
            int suppressed = 0;
            for (int row = 0; row < output.getNumRows(); row++) {
                suppressed += output.isOutlier(row) ? 1 : 0;
            }
            found = "\"levels\": [" + String.join(", ", levels) + "], \"suppressed\": " + suppressed
                + ", \"own\": \"" + node.getHighestScore() + "\"";
        }
        System.out.println("\n{\"seconds\": " + best + ", " + found + "}");
    }
}
