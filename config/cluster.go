package config

// Cluster lets the other gateways on the database reach this one.
type Cluster struct {
	// Listen is host:port for other gateways only.
	Listen string `yaml:"listen"`
	// Address is host:port by which they reach it; that of Listen by default.
	Address string `yaml:"address"`
}

// checkCluster checks the section.
func (c *Config) checkCluster() error {
	if c.Cluster == nil {
		return nil
	}
	if c.Cluster.Listen == "" {
		return c.Fault("cluster", "has no listen: write host:port for the other gateways, such as 10.0.0.11:8788")
	}
	for _, at := range []struct{ key, address string }{{"cluster.listen", c.Cluster.Listen}, {"cluster.address", c.Cluster.Address}} {
		if at.address == "" {
			continue
		}
		if err := CheckListen(at.address); err != nil {
			return c.Fault(at.key, "%v", err)
		}
	}
	return nil
}
